struct Node { 1: required Next next, 2: i32 value }
union Next { 1: Node node, 2: bool end }
const Node SAMPLE = {"next": {"node": {"next": {"end": true}, "value": 2}}, "value": 1}
