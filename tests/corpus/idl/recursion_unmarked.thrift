// A field that contains its own struct and is neither required nor optional.
struct Chain { 1: Chain next, 2: i32 value, 3: list<Chain> more }
const Chain SAMPLE = {"next": {"value": 2, "more": []}, "value": 1, "more": [{"value": 3, "more": []}]}
