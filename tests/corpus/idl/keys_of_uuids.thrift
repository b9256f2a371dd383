// Apache's compiler of this age has no UUIDs; those of 0.19 and later have.
struct A { 1: uuid a, 2: map<uuid, i32> b, 3: set<uuid> c, 4: list<uuid> d, 5: optional uuid e, 6: uuid f = "00112233-4455-6677-8899-aabbccddeeff" }
const uuid ID = "{01234567-89AB-CDEF-0123-456789abcdef}"
const A SAMPLE = {"a": ID, "b": {ID: 1}, "c": [ID, "00000000-0000-0000-0000-000000000000"], "d": [ID, ID]}
