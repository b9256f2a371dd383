use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rpc_core::{Sent, Stage, TransportError, TransportErrorKind};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio::time::{Instant, timeout_at};

use crate::{Connect, Stream};

/// How sockets are set up, on both sides. `TCP_NODELAY` is always on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketConfig {
    /// How long an attempt to connect may take, over all addresses of a name; no longer than a day. Default: 3 s.
    pub connect_timeout: Duration,
    /// After how much silence the kernel asks the peer whether it is there. Kernels count whole seconds, from 1 to 32,767: what
    /// is shorter or longer becomes that. Default: 5 s.
    pub keep_alive: Duration,
    /// How long bytes may stay unacknowledged, or such questions unanswered, before the connection counts as lost. Default:
    /// 10 s, so that a peer which vanished without a word is noticed within 15 s.
    pub user_timeout: Duration,
}

impl Default for SocketConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(3),
            keep_alive: Duration::from_secs(5),
            user_timeout: Duration::from_secs(10),
        }
    }
}

/// What kernels take as the time of a question.
const PROBE_TIMES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(32_767);

/// The longest time that Linux takes as a user timeout, in milliseconds.
const LONGEST_USER_TIMEOUT: Duration = Duration::from_millis(i32::MAX as u64);

/// Above this a timeout for connecting means that there is none.
const LONGEST_CONNECT: Duration = Duration::from_secs(24 * 60 * 60);

/// Questions that may stay unanswered; they are asked this often within the user timeout.
const PROBES: u32 = 3;

impl SocketConfig {
    /// Sets a TCP socket up.
    pub(crate) fn apply(&self, socket: &TcpStream) -> io::Result<()> {
        socket.set_nodelay(true)?;
        let socket = SockRef::from(socket);
        let probe_time = |time: Duration| time.clamp(*PROBE_TIMES.start(), *PROBE_TIMES.end());
        let keep_alive = TcpKeepalive::new()
            .with_time(probe_time(self.keep_alive))
            .with_interval(probe_time(self.user_timeout / PROBES));
        #[cfg(any(
            target_os = "linux",
            target_os = "android",
            target_vendor = "apple",
            target_os = "freebsd"
        ))]
        let keep_alive = keep_alive.with_retries(PROBES);
        socket.set_tcp_keepalive(&keep_alive)?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        socket.set_tcp_user_timeout(Some(self.user_timeout.min(LONGEST_USER_TIMEOUT)))?;
        Ok(())
    }
}

/// Dials a host and port by TCP, or a Unix socket.
#[derive(Clone, Debug)]
pub struct Dialer {
    endpoint: Arc<str>,
    target: Target,
    config: SocketConfig,
}

#[derive(Clone, Debug)]
enum Target {
    Tcp,
    Unix(PathBuf),
}

impl Dialer {
    /// A dialer for `"host:port"`, `"127.0.0.1:port"`, `"[::1]:port"` or `"unix:/path"`. Nothing is looked up yet.
    pub fn new(endpoint: impl AsRef<str>) -> Self {
        let endpoint = endpoint.as_ref();
        let target = match endpoint.strip_prefix("unix:") {
            Some(path) => Target::Unix(PathBuf::from(path)),
            None => Target::Tcp,
        };
        Self { endpoint: endpoint.into(), target, config: SocketConfig::default() }
    }

    /// The same with other settings of its sockets.
    #[must_use]
    pub fn config(mut self, config: SocketConfig) -> Self {
        self.config = config;
        self
    }

    fn error(&self, stage: Stage, cause: io::Error) -> TransportError {
        TransportError::new(TransportErrorKind::Connect, stage, Sent::No)
            .at(self.endpoint.clone())
            .because(cause)
    }

    async fn tcp(&self, ends: Instant) -> Result<TcpStream, TransportError> {
        let addresses = timeout_at(ends, lookup_host(&*self.endpoint))
            .await
            .unwrap_or_else(|_| Err(timed_out()))
            .map_err(|cause| self.error(Stage::Resolve, cause))?;
        let addresses: Vec<_> = addresses.collect();
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for (i, address) in addresses.iter().enumerate() {
            // What is left of the time is shared by the addresses that are left, so that a dead one does not use it up.
            let left = ends.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(addresses.len() - i).unwrap_or(u32::MAX);
            let attempt = timeout_at(Instant::now() + share, TcpStream::connect(address)).await;
            match attempt.unwrap_or_else(|_| Err(timed_out())).and_then(|socket| {
                self.config.apply(&socket)?;
                Ok(socket)
            }) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(self.error(Stage::Connect, last))
    }
}

impl Connect for Dialer {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        let ends = Instant::now() + self.config.connect_timeout.min(LONGEST_CONNECT);
        match &self.target {
            Target::Tcp => self.tcp(ends).await.map(Stream::Tcp),
            Target::Unix(path) => {
                let socket =
                    timeout_at(ends, UnixStream::connect(path)).await.unwrap_or_else(|_| Err(timed_out()));
                socket.map(Stream::Unix).map_err(|cause| self.error(Stage::Connect, cause))
            }
        }
    }

    fn endpoint(&self) -> &Arc<str> {
        &self.endpoint
    }
}

fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the connect timeout passed")
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn times_that_no_kernel_takes_become_the_nearest_that_it_does() {
        Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
            let address = listener.local_addr().expect("its address").to_string();
            for time in [Duration::ZERO, Duration::from_millis(500), Duration::MAX] {
                let config =
                    SocketConfig { connect_timeout: Duration::MAX, keep_alive: time, user_timeout: time };
                let dialled = Dialer::new(&address).config(config.clone()).connect().await;
                assert!(dialled.is_ok(), "{time:?}: {dialled:?}");
                let (socket, _) = listener.accept().await.expect("a connection");
                config.apply(&socket).unwrap_or_else(|error| panic!("{time:?}: {error}"));
            }
        });
    }
}
