//! Protobuf payloads and the Kitex-Protobuf message header
