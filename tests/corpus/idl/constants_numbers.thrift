const i8 LOW_8 = -128
const i16 LOW_16 = -32768
const i32 LOW_32 = -2147483648
const i64 LOW_64 = -9223372036854775807
const i64 HIGH_64 = 0x7fffffffffffffff
const double EXPONENT = 1.5e3
const double NEGATIVE = -2.5E-3
const double WHOLE = 3.0
const double TINY = 0.0625
const double HUGE = 1.7976931348623157e308
struct A {
  1: i8 a = LOW_8, 2: i16 b = LOW_16, 3: i32 c = LOW_32, 4: i64 d = LOW_64, 5: i64 e = HIGH_64, 6: double f = EXPONENT
  7: double g = NEGATIVE, 8: double h = WHOLE, 9: double i = 7, 10: i32 j = +5, 11: i32 k = 0xFf, 12: i32 l = 007
}
const A SAMPLE = {}
const A SAMPLE_EXTREMES = {"f": TINY, "g": HUGE, "h": -1.7976931348623157e308, "i": 0.1, "a": 127, "b": 32767, "c": 0x7fffffff, "d": 0}
