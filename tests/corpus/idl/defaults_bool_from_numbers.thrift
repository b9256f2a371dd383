struct A { 1: bool a = 1, 2: bool b = 0, 3: bool c = true, 4: bool d = false, 5: list<bool> e = [1, 0, true] }
const A SAMPLE = {}
const A SAMPLE_TURNED = {"a": 0, "b": 1, "c": false, "d": true, "e": [0]}
