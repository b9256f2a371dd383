struct Chain { 1: optional Chain next, 2: i32 value }
const Chain SAMPLE = {"next": {"next": {"value": 3}, "value": 2}, "value": 1}
