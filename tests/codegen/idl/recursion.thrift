namespace rs recursion.one

include "recursion_two.thrift"

struct Chain { 1: optional Chain next, 2: i32 value }
struct Plain { 1: Plain next, 2: i32 value }
struct Containers { 1: list<Containers> list, 2: set<Containers> set, 3: map<i32, Containers> map, 4: map<Containers, i32> keys }
struct A { 1: recursion_two.B b }
union Either { 1: Either inner, 2: i32 end, 3: list<Either> list }
exception Failure { 1: optional Failure cause, 2: string message }
typedef Loop Again
struct Loop { 1: optional Again again, 2: Many many }
typedef list<Loop> Many
