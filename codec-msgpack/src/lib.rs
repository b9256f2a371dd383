//! MessagePack payloads and the msgpack-rpc framing
