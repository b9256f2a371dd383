// error 3:9 this service extends itself: `A` → `A` (remove one `extends`)
// error 4:9 this service extends itself: `B` → `C` → `B` (remove one `extends`)
service A extends A {}
service B extends C {}
service C extends B {}
