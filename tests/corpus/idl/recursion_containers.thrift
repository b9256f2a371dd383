struct Tree { 1: list<Tree> kids, 2: map<string, Tree> named, 3: list<map<i32, list<Tree>>> deep }
const Tree SAMPLE = {
  "kids": [{"kids": [], "named": {}, "deep": []}], "named": {"x": {"kids": [], "named": {}, "deep": []}}
  "deep": [{1: [{"kids": [], "named": {}, "deep": [{}]}]}]
}
