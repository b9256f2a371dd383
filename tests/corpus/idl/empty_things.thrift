struct Nothing {}
exception Nobody {}
enum None_ {}
service Idle {}
service Idler extends Idle {}
struct A { 1: Nothing a, 2: list<Nothing> b, 3: optional Nothing c, 4: map<i32, Nothing> d, 5: string e, 6: binary f, 7: Nobody g }
const A SAMPLE = {"a": {}, "b": [{}, {}], "c": {}, "d": {1: {}}, "e": "", "f": "", "g": {}}
const Nothing SAMPLE_NOTHING = {}
service S { void nothing(), Nothing something(1: Nothing a) throws (1: Nobody nobody), oneway void shout() }
