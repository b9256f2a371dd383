union Type { 1: i32 type, 2: string match, 3: list<i32> Self, 4: Type crate, 5: bool Unknown, 6: i32 unknown }
const Type SAMPLE = {"type": 1}
const Type SAMPLE_TEXT = {"match": "x"}
const Type SAMPLE_LIST = {"Self": [1, 2]}
const Type SAMPLE_NESTED = {"crate": {"crate": {"Unknown": true}}}
