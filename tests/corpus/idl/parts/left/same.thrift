namespace rs corpus.left
namespace py corpus_left
struct Left { 1: i32 a }
