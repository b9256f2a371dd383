//! Wire protocols as values: bytes in, events out
