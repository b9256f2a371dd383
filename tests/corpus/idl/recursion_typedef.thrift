// The targets of typedefs are declared behind them.
typedef Loop Again
typedef list<Again> Many
struct Loop { 1: optional Again again, 2: Many many, 3: i32 value }
const Loop SAMPLE = {"again": {"many": [], "value": 1}, "many": [{"many": [], "value": 2}], "value": 3}
