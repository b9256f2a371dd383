namespace rs recursion

struct B { 1: optional C c }
struct C { 1: optional B b, 2: i32 value }
