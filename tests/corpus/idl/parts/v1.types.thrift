namespace py corpus_v1
namespace rs corpus.v1
struct T { 1: i32 a }
