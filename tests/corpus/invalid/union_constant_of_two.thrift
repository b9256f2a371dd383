// error 5:15 a union holds one field, not 2 (give one field of `U`)
// error 6:16 a union holds one field, not 0 (give one field of `U`)
// Apache's compiler takes constants of a union with any number of fields.
union U { 1: i32 a, 2: string b }
const U TWO = {"a": 1, "b": "x"}
const U NONE = {}
