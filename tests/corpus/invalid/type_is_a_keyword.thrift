// error 3:8 `list` is a keyword and can not name a definition (choose another name; members may be named like keywords)
// error 4:6 `service` is a keyword and can not name a definition (choose another name; members may be named like keywords)
struct list { 1: i32 a }
enum service { A = 1 }
