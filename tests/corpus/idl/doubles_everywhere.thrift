struct A { 1: double a, 2: list<double> b, 3: map<i32, double> c, 4: optional double d }
const A SAMPLE = {"a": 1.5, "b": [0.1, -0.1, 1e308, 123456789.123456789, 1e21, 0.0625], "c": {1: -2.5}, "d": 0}
