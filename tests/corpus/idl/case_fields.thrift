struct A { 1: i32 fooBar, 2: i32 foo_bar, 3: i32 FooBar, 4: i32 FOO_BAR, 5: i32 foo_bar_2 }
const A SAMPLE = {"fooBar": 1, "foo_bar": 2, "FooBar": 3, "FOO_BAR": 4, "foo_bar_2": 5}
