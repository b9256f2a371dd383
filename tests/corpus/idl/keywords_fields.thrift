struct Words {
  1: i32 type, 2: i32 match, 5: i32 gen, 6: i32 dyn, 7: i32 box, 8: i32 macro, 9: i32 Self
  10: i32 crate, 11: i32 extern, 12: i32 fn, 13: i32 impl, 14: i32 let, 15: i32 loop, 16: i32 mod, 17: i32 move, 18: i32 mut
  19: i32 priv, 20: i32 pub, 21: i32 ref, 22: i32 trait, 23: i32 unsafe, 24: i32 unsized, 25: i32 where, 26: i32 become
  27: i32 final, 28: i32 override, 29: i32 typeof
}
const Words SAMPLE = {
  "type": 1, "match": 2, "gen": 5, "dyn": 6, "box": 7, "macro": 8, "Self": 9, "crate": 10,
  "extern": 11, "fn": 12, "impl": 13, "let": 14, "loop": 15, "mod": 16, "move": 17, "mut": 18, "priv": 19, "pub": 20,
  "ref": 21, "trait": 22, "unsafe": 23, "unsized": 24, "where": 25, "become": 26, "final": 27, "override": 28, "typeof": 29
}
