// Apache's compiler refuses words of the languages it writes, of which Rust has these too.
struct Words {
  1: i32 self, 2: i32 super, 3: i32 static, 4: i32 try, 5: i32 yield, 6: i32 while, 7: i32 for, 8: i32 if, 9: i32 else
  10: i32 break, 11: i32 continue, 12: i32 return, 13: i32 use, 14: i32 virtual, 15: i32 do, 16: i32 in, 17: i32 as
  18: i32 abstract
}
const Words SAMPLE = {
  "self": 1, "super": 2, "static": 3, "try": 4, "yield": 5, "while": 6, "for": 7, "if": 8, "else": 9, "break": 10,
  "continue": 11, "return": 12, "use": 13, "virtual": 14, "do": 15, "in": 16, "as": 17, "abstract": 18
}
