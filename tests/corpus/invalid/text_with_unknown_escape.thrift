// error 3:19 unknown escape `\q` in a string (the escapes are \n \r \t \\ \" \')
// error 3:22 unknown escape `\x` in a string (the escapes are \n \r \t \\ \" \')
const string A = "\q \x41"
