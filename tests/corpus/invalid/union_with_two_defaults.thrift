// error 2:35 a union can have only one default (remove one of the values)
union U { 1: i32 a = 1, 2: string b = "x" }
