namespace rs extends.b

include "extends_a.thrift"

service B extends extends_a.A {
  extends_a.Lost find(1: i32 id)
}
