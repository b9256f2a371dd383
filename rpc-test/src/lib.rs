//! Conformance suites for the RPC framework's traits
