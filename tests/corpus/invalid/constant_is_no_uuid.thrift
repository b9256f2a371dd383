// error 3:16 this is no UUID (write 32 hexadecimal digits, in groups of 8-4-4-4-12)
// error 4:16 expected a value of type `uuid`, found an integer (write it in quotes)
const uuid A = "01234567-89ab"
const uuid B = 5
