struct A { 1: i32 a }
service S { A GetItem(1: i32 fooBar, 2: i32 foo_bar), A get_item(1: i32 a), A getItem(), A GET_ITEM() }
service s { A GetItem() }
const A SAMPLE = {"a": 1}
