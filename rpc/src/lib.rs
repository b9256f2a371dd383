//! The facade of the RPC framework: features choose codecs and transports
