// error 5:10 `xsd_all` is not supported (it only concerns XML schemas; remove it)
// error 6:21 `xsd_optional` is not supported (it only concerns XML schemas; remove it)
// error 6:47 `xsd_nillable` is not supported (it only concerns XML schemas; remove it)
// Apache's compiler takes these, for XML schemas alone.
struct A xsd_all { 1: i32 a }
struct B { 1: i32 a xsd_optional, 2: string b xsd_nillable }
