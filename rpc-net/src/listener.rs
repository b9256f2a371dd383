use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener, lookup_host};

use crate::{SocketConfig, Stream};

/// A listening socket.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// How long the loop rests when the process is out of descriptors: others must end before it can go on.
const REST: Duration = Duration::from_millis(20);

impl Listener {
    /// Listens at `"host:port"` or `"unix:/path"`.
    pub(crate) async fn bind(endpoint: &str) -> io::Result<Self> {
        if let Some(path) = endpoint.strip_prefix("unix:") {
            return Ok(Self::Unix(UnixListener::bind(path)?, path.into()));
        }
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in lookup_host(endpoint).await? {
            match TcpListener::bind(address).await {
                Ok(listener) => return Ok(Self::Tcp(listener)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(..) => None,
        }
    }

    /// The next connection. It survives what goes wrong with single ones, and waits when the process has no descriptors.
    pub(crate) async fn accept(&self, config: &SocketConfig) -> Stream {
        loop {
            let accepted = match self {
                Self::Tcp(listener) => listener.accept().await.map(|(socket, _)| Stream::Tcp(socket)),
                Self::Unix(listener, _) => listener.accept().await.map(|(socket, _)| Stream::Unix(socket)),
            };
            match accepted {
                Ok(Stream::Tcp(socket)) => match config.apply(&socket) {
                    Ok(()) => return Stream::Tcp(socket),
                    Err(error) if rpc_core::is_disconnect(&error) => {
                        tracing::debug!(%error, "a connection ended while it was accepted");
                    }
                    Err(error) => {
                        tracing::warn!(%error, ?config, "a connection is dropped: its socket can not be set up");
                    }
                },
                Ok(stream) => return stream,
                Err(error) if rpc_core::is_disconnect(&error) => {
                    tracing::debug!(%error, "a connection ended while it was accepted");
                }
                Err(error) => {
                    tracing::warn!(%error, "can not accept connections now");
                    tokio::time::sleep(REST).await;
                }
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // The socket file outlives its listener otherwise, and the next one could not bind.
            let _ = std::fs::remove_file(path);
        }
    }
}
