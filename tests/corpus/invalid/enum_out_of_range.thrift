// error 4:14 2147483648 does not fit an enum (the values of enums have 32 bits)
// error 4:30 -2147483649 does not fit an enum (the values of enums have 32 bits)
// error 4:59 2147483648 does not fit an enum (the values of enums have 32 bits)
enum E { A = 2147483648, B = -2147483649, C = 2147483647, D }
