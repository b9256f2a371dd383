// error 2:19 unknown service `Missing`
service A extends Missing {}
