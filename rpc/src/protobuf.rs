//! Protobuf payloads, and the framings that carry them.

pub use codec_protobuf::*;

/// The protocol that Kitex calls framed Protobuf: Kitex's message header, in frames.
pub type KitexFramed = rpc_wire::Framed<KitexHeader>;

/// [`KitexFramed`] as Kitex's clients speak it.
pub fn kitex_framed() -> KitexFramed {
    rpc_wire::Framed::new(KitexHeader)
}

/// Kitex's default for services of `.proto` files: its message header in frames, behind a TTHeader.
pub type KitexTtHeader = rpc_wire::TtHeader<KitexHeader>;

/// [`KitexTtHeader`], with all defaults.
pub fn kitex_ttheader() -> KitexTtHeader {
    rpc_wire::TtHeader::new(KitexHeader)
}
