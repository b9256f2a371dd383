//! Sockets and the server of the RPC framework
