//! Client transport: many exchanges at once on one connection
