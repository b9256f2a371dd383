include "parts/point.thrift"
enum E { ONE = 1, FIVE = 5, SIX }
typedef E Alias
struct A { 1: E a = E.FIVE, 2: E b = 6, 3: Alias c = E.ONE, 4: point.Color d = point.Color.RED, 5: list<E> e = [E.ONE, 5], 6: i32 f = E.SIX }
const E CHOSEN = E.SIX
const map<E, point.Color> TABLE = {E.ONE: point.Color.BLUE}
const A SAMPLE = {"a": E.SIX, "c": 5, "f": E.FIVE}
