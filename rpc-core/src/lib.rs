//! The contracts of the RPC framework, and the two ends of its stack: client and server
