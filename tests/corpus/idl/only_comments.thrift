# a comment
// another
/* a third,
   of two lines */
/** one with two stars */
