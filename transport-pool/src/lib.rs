//! Client transport: one exchange at a time on each of many connections
