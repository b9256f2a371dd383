// error 3:18 this string is never closed (close it with `"`)
// error 4:18 this string is never closed (close it with `'`)
const string A = "abc
const string B = 'def
