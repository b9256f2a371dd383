// error 3:19 `Base` is a type, not a service (a service can only extend a service)
struct Base {}
service A extends Base {}
