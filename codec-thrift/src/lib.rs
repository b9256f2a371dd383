//! Thrift payloads and message headers
