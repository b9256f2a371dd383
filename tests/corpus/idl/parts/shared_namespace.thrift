namespace rs corpus.together
namespace py corpus_together_part
struct Part { 1: i32 a }
struct part { 1: i32 b }
const i32 SIZE = 3
