union U { 1: i32 foo, 2: i32 Foo, 3: i32 FOO, 4: i32 fOO, 5: string f_o_o }
const U SAMPLE = {"Foo": 1}
const U SAMPLE_SHOUT = {"FOO": 2}
const U SAMPLE_TEXT = {"f_o_o": "x"}
