// error 3:18 expected a definition, found `three` (a definition begins with typedef, enum, struct, union, exception, const or service)
// error 3:25 unexpected `/` (comments are `// …`, `# …` and `/* … */`)
/* one /* two */ three */
struct A {}
