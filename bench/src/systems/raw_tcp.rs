//! The floor: a length and bytes over TCP, one connection a caller, nothing but tokio.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::message::LARGEST_BODY;
use crate::system::{BoxError, Caller, ClientConfig, Echo, Reply, Server, ServerConfig, Sharing, System};
use crate::work;

const LENGTH: usize = 4;
const LARGEST_FRAME: usize = LARGEST_BODY + 64;
const READ_BUFFER: usize = 16 << 10;

/// The floor.
#[derive(Debug)]
pub struct RawTcp;

impl System for RawTcp {
    const NAME: &'static str = "raw-tcp";
    const SHARING: Sharing = Sharing::Exclusive;
    const FLOOR: bool = true;
    type Server = RawServer;
    type Caller = RawCaller;

    fn version() -> &'static str {
        "-"
    }

    fn describe() -> &'static str {
        "four bytes of length, then the bytes; one connection a caller, no codec"
    }

    async fn start(config: ServerConfig) -> Result<RawServer, BoxError> {
        let listener = TcpListener::bind(config.addr).await?;
        let addr = listener.local_addr()?;
        let accepted = Arc::new(AtomicU64::new(0));
        tokio::spawn(accept(listener, Arc::clone(&accepted)));
        Ok(RawServer { addr, accepted })
    }

    async fn connect(config: ClientConfig) -> Result<Vec<RawCaller>, BoxError> {
        let mut callers = Vec::with_capacity(config.callers);
        for _ in 0..config.callers {
            let stream = TcpStream::connect(config.addr).await?;
            stream.set_nodelay(true)?;
            callers.push(RawCaller::new(stream));
        }
        Ok(callers)
    }
}

/// The listening side.
#[derive(Debug)]
pub struct RawServer {
    addr: SocketAddr,
    accepted: Arc<AtomicU64>,
}

impl Server for RawServer {
    fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, accepted: Arc<AtomicU64>) {
    while let Ok((stream, _)) = listener.accept().await {
        accepted.fetch_add(1, Ordering::Relaxed);
        // A client that goes away ends its task; there is nobody to tell.
        tokio::spawn(async move { echo(stream).await.ok() });
    }
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = BytesMut::with_capacity(READ_BUFFER);
    loop {
        if stream.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
        while let Some(size) = frame_size(&buffer)? {
            let frame = buffer.split_to(size);
            let (frame, ()) = work::echo(frame, ());
            stream.write_all(&frame).await?;
        }
    }
}

/// Length and bytes of the frame at the front, once all of it is there.
fn frame_size(buffer: &BytesMut) -> io::Result<Option<usize>> {
    let Some(length) = buffer.first_chunk::<LENGTH>() else { return Ok(None) };
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > LARGEST_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "frame too large"));
    }
    let size = LENGTH + length;
    Ok((buffer.len() >= size).then_some(size))
}

/// One connection.
#[derive(Debug)]
pub struct RawCaller {
    stream: TcpStream,
    output: Vec<u8>,
    input: BytesMut,
    /// A call was given up half-way: its answer may still come, so the connection is of no more use.
    spoilt: bool,
}

impl RawCaller {
    fn new(stream: TcpStream) -> Self {
        Self { stream, output: Vec::new(), input: BytesMut::with_capacity(READ_BUFFER), spoilt: false }
    }
}

impl Caller for RawCaller {
    type Reply = RawReply;

    async fn call(&mut self, request: Echo<'_>) -> Result<RawReply, BoxError> {
        if std::mem::replace(&mut self.spoilt, true) {
            return Err("the connection was left in the middle of an exchange".into());
        }
        self.output.clear();
        self.output.put_u32(u32::try_from(request.action.len() + request.msg.len())?);
        self.output.put_slice(request.action.as_bytes());
        self.output.put_slice(request.msg.as_bytes());
        self.stream.write_all(&self.output).await?;
        let size = loop {
            if let Some(size) = frame_size(&self.input)? {
                break size;
            }
            if self.stream.read_buf(&mut self.input).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        };
        let mut bytes = self.input.split_to(size);
        bytes.advance(LENGTH);
        self.spoilt = false;
        Ok(RawReply { bytes: bytes.freeze(), action: request.action.len() })
    }
}

/// The bytes that came back.
#[derive(Debug)]
pub struct RawReply {
    bytes: Bytes,
    action: usize,
}

impl Reply for RawReply {
    fn action(&self) -> &[u8] {
        self.bytes.get(..self.action).unwrap_or_default()
    }

    fn msg(&self) -> &[u8] {
        self.bytes.get(self.action..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_whole_or_not_there() {
        let mut buffer = BytesMut::new();
        for byte in [0, 0, 0, 2, 7] {
            assert_eq!(frame_size(&buffer).expect("a sane length"), None);
            buffer.put_u8(byte);
        }
        assert_eq!(frame_size(&buffer).expect("a sane length"), None);
        buffer.put_u8(8);
        assert_eq!(frame_size(&buffer).expect("a sane length"), Some(6));
        assert!(frame_size(&BytesMut::from(&[0xff_u8; 4][..])).is_err());
    }
}
