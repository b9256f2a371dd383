// error 2:1 expected a name for the struct, found the end of the file
struct
