namespace * everybody
namespace rs first.choice
namespace rs second.choice
namespace py for_python
namespace py.twisted for.twisted
namespace c_glib G
namespace perl A.B
namespace netstd x.y
struct A { 1: i32 a }
const A SAMPLE = {"a": 1}
