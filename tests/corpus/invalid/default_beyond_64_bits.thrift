// error 3:23 this integer does not fit 64 bits (integers range from -9223372036854775808 to 9223372036854775807)
// error 3:58 this number does not fit a double
struct A { 1: i64 a = 9223372036854775808, 2: double b = 1e999 }
