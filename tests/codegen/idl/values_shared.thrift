enum Shared { ONE = 1, TWO = 2 }
const i32 NUMBER = 42
