// error 3:8 `a.b` can not be declared: it contains a dot (dots only separate a file or an enum from what it contains, where something is referred to)
// error 3:21 `c.d` can not be declared: it contains a dot (dots only separate a file or an enum from what it contains, where something is referred to)
struct a.b { 1: i32 c.d }
