/**
 * No test:
 *
 *     let x: u8 = 500;
 *
 * ```
 * panic!();
 * ```
 *
 * ```rust
 * assert!(false);
 *
 * and never closed, with "quotes", \ backslashes, [brackets] and <b>
 */
struct A {
  /** ~~~ */
  1: i32 a
}
/** ends with a backslash \ */
const A SAMPLE = {"a": 1}
