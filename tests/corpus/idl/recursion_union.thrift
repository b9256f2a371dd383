union Expression { 1: i32 number, 2: Pair sum, 3: Expression negative, 4: list<Expression> many }
struct Pair { 1: required Expression left, 2: required Expression right }
const Expression SAMPLE = {"sum": {"left": {"number": 1}, "right": {"negative": {"many": [{"number": 2}, {"number": 3}]}}}}
