struct A {
  1: map<list<i32> (python.immutable = ""), i32> lists, 2: map<set<i32> (python.immutable = ""), i32> sets
  3: map<map<i32, double> (python.immutable = ""), i32> maps, 4: set<list<string> (python.immutable = "")> of_lists
  5: map<map<set<i32> (python.immutable = ""), i32> (python.immutable = ""), list<double>> nested
}
const A SAMPLE = {"lists": {[1, 2]: 3}, "sets": {[4]: 5}, "maps": {{6: 0.5}: 7}, "of_lists": [["a", "b"]], "nested": {{[1]: 2}: [3.5]}}
