// What generated functions call their own things.
struct A {
  1: i32 field, 2: i32 reader, 3: i32 writer, 4: i32 value, 5: i32 error, 6: i32 known, 7: i32 unknown, 8: i32 other
  9: i32 fields, 10: i32 source, 11: i32 index, 12: i32 serializer, 13: i32 f, 14: i32 field_field, 15: i32 request, 16: i32 inner
  17: i32 name, 18: i32 id, 19: i32 map_, 20: i32 unknown_fields
}
union U { 1: i32 value, 2: i32 reader, 3: i32 unknown, 4: i32 map_ }
const A SAMPLE = {
  "field": 1, "reader": 2, "writer": 3, "value": 4, "error": 5, "known": 6, "unknown": 7, "other": 8, "fields": 9, "source": 10
  "index": 11, "serializer": 12, "f": 13, "field_field": 14, "request": 15, "inner": 16, "name": 17, "id": 18, "map_": 19
  "unknown_fields": 20
}
const U SAMPLE_UNION = {"unknown": 1}
service S { A f(1: i32 request, 2: i32 cx, 3: i32 table, 4: i32 outcome, 5: i32 codec, 6: i32 answer, 7: U inner) }
