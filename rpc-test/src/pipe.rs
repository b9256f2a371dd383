use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// How a pipe carries bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeConfig {
    /// The most that one read or write carries, in bytes.
    pub chunk: usize,
    /// How many bytes fit in, each way, before a writer has to wait for the reader.
    pub capacity: usize,
    /// Where it breaks.
    pub cut: Option<Cut>,
}

impl Default for PipeConfig {
    fn default() -> Self {
        Self { chunk: 4096, capacity: 64 * 1024, cut: None }
    }
}

impl PipeConfig {
    /// A pipe that carries pieces of this size at most.
    pub fn in_pieces(chunk: usize) -> Self {
        Self { chunk, ..Self::default() }
    }
}

/// Where a pipe breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The way whose bytes are counted. Both ways end.
    pub way: Way,
    /// So many bytes arrive.
    pub after: u64,
    /// What the client sees then.
    pub how: How,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Requests.
    ToServer,
    /// Answers.
    ToClient,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// As if the peer had closed it.
    Eof,
    /// As if the peer had gone without a goodbye.
    Reset,
}

/// How many bytes the client's end of a pipe has read and written.
#[derive(Debug, Default)]
pub struct Traffic {
    read: AtomicU64,
    written: AtomicU64,
}

impl Traffic {
    /// Bytes that came.
    pub fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Bytes that went.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// Makes a pipe: the client's end, and the server's.
pub fn pipe(config: PipeConfig) -> (PipeEnd, PipeEnd) {
    let (client, server) = tokio::io::duplex(config.capacity);
    let reset = Arc::new(AtomicBool::new(false));
    let client = PipeEnd::new(client, config.chunk, config.cut, reset.clone());
    (client, PipeEnd::new(server, config.chunk, None, reset))
}

/// One end of a pipe.
#[derive(Debug)]
pub struct PipeEnd {
    io: Option<DuplexStream>,
    chunk: usize,
    cut: Option<Cut>,
    traffic: Arc<Traffic>,
    /// Either end went without a goodbye.
    reset: Arc<AtomicBool>,
    /// Who waits for bytes here, to learn of a cut.
    reader: Option<Waker>,
}

impl PipeEnd {
    fn new(io: DuplexStream, chunk: usize, cut: Option<Cut>, reset: Arc<AtomicBool>) -> Self {
        Self { io: Some(io), chunk: chunk.max(1), cut, traffic: Arc::default(), reset, reader: None }
    }

    /// What has gone through this end.
    pub fn traffic(&self) -> Arc<Traffic> {
        self.traffic.clone()
    }

    /// Goes without a goodbye: the other end sees a reset.
    pub fn reset(mut self) {
        self.reset.store(true, Ordering::Release);
        self.io = None;
    }

    /// How many bytes may still go this way.
    fn room(&self, way: Way, passed: u64) -> usize {
        let left = match self.cut {
            Some(cut) if cut.way == way => {
                usize::try_from(cut.after.saturating_sub(passed)).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        };
        left.min(self.chunk)
    }

    fn sever(&mut self) {
        self.io = None;
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    fn severed(&self) -> io::Result<()> {
        match self.cut {
            Some(Cut { how: How::Reset, .. }) => Err(io::ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        }
    }
}

/// A piece is read into a buffer of its own, since a [`ReadBuf`] can not be narrowed without unsafe code.
const MOST: usize = 64 * 1024;

impl AsyncRead for PipeEnd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let room = this.room(Way::ToClient, this.traffic.read());
        if room == 0 {
            this.sever();
        }
        let Some(io) = &mut this.io else { return Poll::Ready(this.severed()) };
        let mut piece = [0; MOST];
        let most = room.min(MOST).min(buf.remaining());
        let mut piece = ReadBuf::new(piece.get_mut(..most).unwrap_or_default());
        if Pin::new(io).poll_read(cx, &mut piece)?.is_pending() {
            this.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let piece = piece.filled();
        if piece.is_empty() && this.reset.load(Ordering::Acquire) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        buf.put_slice(piece);
        this.traffic.read.fetch_add(piece.len() as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for PipeEnd {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let room = this.room(Way::ToServer, this.traffic.written());
        if room == 0 {
            this.sever();
        }
        let Some(io) = &mut this.io else { return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())) };
        let piece = bytes.get(..room).unwrap_or(bytes);
        let count = ready!(Pin::new(io).poll_write(cx, piece))?;
        this.traffic.written.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().map_or(Poll::Ready(Ok(())), |io| Pin::new(io).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.as_mut().map_or(Poll::Ready(Ok(())), |io| Pin::new(io).poll_shutdown(cx))
    }
}
