//! The keys that mean something to the protocol itself. Source: `wire/thrift.md` §8, §14.

/// Keys that are numbers.
pub(super) mod number {
    pub(in super::super) const CALLER: u16 = 3;
    pub(in super::super) const CALLEE: u16 = 6;
    pub(in super::super) const METHOD: u16 = 9;
    /// In milliseconds.
    pub(in super::super) const TIMEOUT: u16 = 12;
    pub(in super::super) const MESSAGE_KIND: u16 = 22;
}

/// Keys that are texts.
pub(super) mod text {
    pub(in super::super) const SERVICE: &[u8] = b"isn";
    /// The connection takes no more calls.
    pub(in super::super) const CLOSING: &[u8] = b"crrst";
    pub(in super::super) const CHECKSUM: &[u8] = b"crc32c";
    pub(in super::super) const BUSINESS_CODE: &[u8] = b"biz-status";
    pub(in super::super) const BUSINESS_MESSAGE: &[u8] = b"biz-message";
    pub(in super::super) const BUSINESS_EXTRA: &[u8] = b"biz-extra";
}

/// Before the key of a pair that travels to the next hop.
pub(super) const TRANSIENT: &[u8] = b"RPC_TRANSIT_";
/// Behind that, of a pair that already did: its receiver may read it and does not send it on.
pub(super) const UPSTREAM: &[u8] = b"UPSTREAM_";
/// Before the key of a pair that travels along the whole chain.
pub(super) const PERSISTENT: &[u8] = b"RPC_PERSIST_";
/// Before the key of a pair of an answer, as volo writes it. Kitex writes nothing there.
pub(super) const BACKWARD: &[u8] = b"RPC_BACKWARD_";

/// The transient key whose value stands in a block of its own.
pub(super) const TOKEN: &str = "gdpr-token";

/// Whether a text key is the protocol's own, so that it can be no pair of an answer.
pub(super) fn is_own(key: &[u8]) -> bool {
    const OWN: &[&[u8]] = &[
        text::SERVICE,
        text::CLOSING,
        text::CHECKSUM,
        text::BUSINESS_CODE,
        text::BUSINESS_MESSAGE,
        text::BUSINESS_EXTRA,
        b"rip",
        b"K_ProcessAtTime",
        b"tc",
        b"ti",
        b"pcs",
        b"pce",
        b"pss",
        b"prs",
        b"pre",
        b"ttscp",
    ];
    const OWN_PREFIXES: &[&[u8]] = &[b"PV_", b"biz-", TRANSIENT, PERSISTENT, BACKWARD];
    OWN.contains(&key) || OWN_PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}
