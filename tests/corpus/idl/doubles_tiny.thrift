// Apache's compiler writes doubles with a fixed number of digits, so that it takes small ones for 0.
struct A { 1: double a = 5e-324, 2: list<double> b = [1e-300, -1e-20, 2.2250738585072014e-308] }
const A SAMPLE = {}
