// Apache's compiler refuses its own keywords as the names of fields.
struct Words {
  1: i32 struct, 2: i32 list, 3: i32 required, 4: required i32 optional, 5: i32 union, 6: i32 namespace, 7: i32 service
  8: i32 true, 9: i32 include, 10: i32 void, 11: i32 i32, 12: i32 binary, 13: i32 const, 14: i32 throws, 15: i32 oneway
  16: i32 async, 19: i32 await, 17: i32 string, 18: i32 map
}
const Words SAMPLE = {
  "struct": 1, "list": 2, "required": 3, "optional": 4, "union": 5, "namespace": 6, "service": 7, "true": 8, "include": 9,
  "void": 10, "i32": 11, "binary": 12, "const": 13, "throws": 14, "oneway": 15
  "async": 16, "await": 19, "string": 17, "map": 18
}
