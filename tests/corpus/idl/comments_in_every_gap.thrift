/**/ namespace /**/ rs /**/ gaps.inside // here
typedef /* a */ map /* b */ < /* c */ i32 /* d */ , # e
  list // f
  < /* g */ string > /* h */ > /* i */ Mapped // j
/* k */ struct /* l */ A /* m */ { /* n */
  1 /* o */ : /* p */ required /* q */ Mapped /* r */ mapped /* s */ , // t
  2: /* u */ i32 /* v */ number /* w */ = /* x */ 5 /* y */
  /* z */ }
const /* a */ A /* b */ SAMPLE /* c */ = /* d */ { /* e */ "mapped" /* f */ : /* g */ {1: ["a" /* h */ , 'b']}
  , "number" : /* i */ -7 /* j */ } // k
service /* l */ S /* m */ { /* n */ oneway /* o */ void /* p */ f /* q */ ( /* r */ 1: i32 a /* s */ ) /* t */ }
# the end
