struct FB { 1: i32 a }
struct Fb { 1: FB b }
struct fb { 1: Fb c }
struct fB { 1: fb d }
const fB SAMPLE = {"d": {"c": {"b": {"a": 1}}}}
