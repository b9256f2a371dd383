//! MessagePack payloads, and the msgpack-rpc protocol that carries them.

pub use codec_msgpack::*;

/// msgpack-rpc, with the codec's defaults: structs as arrays, in the current dialect.
pub fn rpc() -> Rpc {
    Rpc::new()
}
