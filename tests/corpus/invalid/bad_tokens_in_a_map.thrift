// error 3:31 expected `:` between a key and its value, found `"x"`
// error 4:25 expected `]` to end this list, found the end of the file
const map<i32, string> A = {1 "x"}
const list<i32> B = [1, 2
