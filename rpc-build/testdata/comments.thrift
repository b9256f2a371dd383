/** At the top. */
namespace rs comments

/**
 * A struct.
 *
 *     let not = "a test";
 *
 * ```rust
 * nor this
 * ```
 */
struct Documented {
  /** A field. */
  1: i32 a,
  2: i32 b (deprecated = "use a"),
}

enum Values {
  /** A value. */
  ONE = 1,
}

union Fields {
  /** A variant. */
  1: i32 a,
}

/** A constant. */
const i32 LIMIT = 5

/** A service. */
service Said {
  /** A method. */
  void say(1: Documented what),
}
