exception Failure { 1: string message, 2: optional Failure cause, 3: list<Failure> others }
const Failure SAMPLE = {"message": "a", "cause": {"message": "b", "others": []}, "others": [{"message": "c", "others": []}]}
service S { void fail(1: i32 a) throws (1: Failure failure) }
