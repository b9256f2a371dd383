use std::borrow::Cow;

/// How TTHeader messages are written. All that peers of the family write is read, whatever stands here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TtHeaderConfig {
    /// Client: the name by which a registry knows this program. Servers use it in their logs and limits. Default: none is
    /// told.
    pub caller: Option<Cow<'static, str>>,
    /// Client: the name by which a registry knows the server. Meshes route by it, servers do not. Default: none is told.
    pub callee: Option<Cow<'static, str>>,
    /// Client: how messages stand behind the header; servers answer as they are asked. Default: framed.
    pub payload: Payload,
    /// Each message carries a checksum of its payload. Kitex verifies it where it is told to; here it is verified wherever
    /// one came, and an answer has one if its request had. Some 0.1 ns a byte where the processor helps. Default: off.
    pub checksum: bool,
    /// Server: how the keys of an answer's metadata are written. Default: plain.
    pub backward_keys: BackwardKeys,
    /// Client: requests say that answers may come in any order, and that the server may say without being asked that it
    /// goes away. Where [`Limits::max_in_flight`](crate::Limits) is 1 they never do. To be turned off for a transport that
    /// makes one call at a time and does not say so there, and for a proxy that can not bear the flag; no deployed server
    /// minds it. Default: on.
    pub out_of_order: bool,
}

impl Default for TtHeaderConfig {
    fn default() -> Self {
        Self {
            caller: None,
            callee: None,
            payload: Payload::default(),
            checksum: false,
            backward_keys: BackwardKeys::default(),
            out_of_order: true,
        }
    }
}

/// How a message stands behind its TTHeader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Payload {
    /// In a frame, as Kitex's and volo's clients write it by default.
    #[default]
    Framed,
    /// As it is. Kitex-Protobuf is never written so.
    Bare,
}

/// How the keys of an answer's metadata are written. Both are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackwardKeys {
    /// As they are, which is what Kitex reads. A key that is the protocol's own can not be written.
    #[default]
    Plain,
    /// Behind `RPC_BACKWARD_`, which is what volo reads.
    Prefixed,
}
