/// What a connection allows. Every table and queue of a protocol has its bound here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest message in either direction, in bytes without its frame's length field. Default: 16 MiB, what volo
    /// allows; Apache Thrift's peers stop at 16,384,000. A peer can make the connection hold one message of this size.
    pub max_message: usize,
    /// How many calls may be in flight. Client: further callers wait. Server: further requests are left unread, so that
    /// the peer waits. Default: 4,096. Worst case on a server: so many handlers for each connection. A client that sets
    /// 1 says that it reads nothing but the answer it waits for. Where either side may call the other, requests past the limit
    /// are refused by a client, and by a server while it waits for answers itself, since those may stand behind them.
    pub max_in_flight: usize,
    /// Server: how many bytes the requests in flight may have, before further ones are left unread. The last one let in may go
    /// above it, so that one of any size is served when it is alone. Default: 64 MiB.
    pub max_in_flight_bytes: usize,
    /// Client: how many bytes of requests may wait to be written, before further callers wait: they wait for a peer that reads
    /// nothing, and calls that are given up meanwhile leave their bytes behind. One request may be larger. Default: 16 MiB.
    pub max_unsent: usize,
    /// Client: how many calls that were given up may still be unanswered before the connection counts as dead, since
    /// their ids can not be used again until they are. Default: 65,536, some 3 MiB.
    pub max_abandoned: usize,
    /// Server: answers leave in the order of their requests, for clients that ignore ids. Default: off.
    pub ordered: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message: 16 * 1024 * 1024,
            max_in_flight: 4096,
            max_in_flight_bytes: 64 * 1024 * 1024,
            max_unsent: 16 * 1024 * 1024,
            max_abandoned: 65_536,
            ordered: false,
        }
    }
}
