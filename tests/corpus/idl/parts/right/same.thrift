namespace rs corpus.right
namespace py corpus_right
struct Right { 1: i32 b }
