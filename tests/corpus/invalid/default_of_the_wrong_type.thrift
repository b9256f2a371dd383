// error 6:23 expected a value of type `i32`, found a string (write an integer)
// error 6:42 expected a value of type `string`, found an integer (write it in quotes)
// error 6:62 expected a value of type `list<i32>`, found an integer (lists and sets are written `[a, b]`)
// error 6:77 expected a value of type `bool`, found a string (write `true` or `false`)
// error 6:106 expected a value of type `map<i32, i32>`, found a list (maps are written `{key: value}`)
struct A { 1: i32 a = "x", 2: string b = 5, 3: list<i32> c = 1, 4: bool d = "true", 5: map<i32, i32> e = [1] }
