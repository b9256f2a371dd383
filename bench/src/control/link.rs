//! One control connection, with blocking calls: those who use it have nothing else to do.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::messages::{Answer, Request};

/// The longest line: a report with its histogram is far below.
const LONGEST_LINE: u64 = 16 << 20;
/// How often a wait looks whether it should end.
const LOOK: Duration = Duration::from_millis(100);

/// What went wrong on a control connection.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The other side is gone.
    #[error("the other process ended")]
    Ended,
    /// Nothing came in time.
    #[error("no answer within {} s", .0.as_secs())]
    Silent(Duration),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
    /// Not a message, or not the one that was due.
    #[error("{0}")]
    Confused(String),
    /// The other side says that it failed.
    #[error("{0}")]
    Failed(String),
    /// The socket failed.
    #[error("control connection: {0}")]
    Io(#[from] std::io::Error),
}

/// One end.
#[derive(Debug)]
pub struct Link {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    line: Vec<u8>,
    interrupted: fn() -> bool,
}

impl Link {
    /// Over a connection that stands.
    ///
    /// # Errors
    ///
    /// If the socket does not take its options.
    pub fn new(stream: TcpStream) -> Result<Self, LinkError> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LOOK))?;
        let writer = stream.try_clone()?;
        Ok(Self { reader: BufReader::new(stream), writer, line: Vec::new(), interrupted: || false })
    }

    /// To an address, within this time.
    ///
    /// # Errors
    ///
    /// If nobody answers there.
    pub fn connect(addr: SocketAddr, limit: Duration) -> Result<Self, LinkError> {
        Self::new(TcpStream::connect_timeout(&addr, limit)?)
    }

    /// Waits end early when this says so.
    pub fn interrupted_by(mut self, interrupted: fn() -> bool) -> Self {
        self.interrupted = interrupted;
        self
    }

    /// Sends one message.
    ///
    /// # Errors
    ///
    /// If the socket does.
    pub fn send<T: Serialize>(&mut self, message: &T) -> Result<(), LinkError> {
        let mut line = serde_json::to_vec(message).map_err(|error| LinkError::Confused(error.to_string()))?;
        line.push(b'\n');
        Ok(self.writer.write_all(&line)?)
    }

    /// Waits for one message, `None` for as long as it takes.
    ///
    /// # Errors
    ///
    /// Every [`LinkError`] but `Failed`.
    pub fn receive<T: DeserializeOwned>(&mut self, limit: Option<Duration>) -> Result<T, LinkError> {
        let start = Instant::now();
        self.line.clear();
        loop {
            // What has been read of a line stays in `line` when a read times out.
            let room = LONGEST_LINE.saturating_sub(self.line.len() as u64);
            match (&mut self.reader).take(room).read_until(b'\n', &mut self.line) {
                Ok(_) if self.line.ends_with(b"\n") => break,
                Ok(0) if room == 0 => return Err(LinkError::Confused("a line without end".into())),
                Ok(0) => return Err(LinkError::Ended),
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => {
                    return Err(LinkError::Ended);
                }
                Err(error) => return Err(error.into()),
            }
            if (self.interrupted)() {
                return Err(LinkError::Interrupted);
            }
            if let Some(limit) = limit
                && start.elapsed() >= limit
            {
                return Err(LinkError::Silent(limit));
            }
        }
        serde_json::from_slice(&self.line)
            .map_err(|error| LinkError::Confused(format!("unreadable message: {error}")))
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// Every [`LinkError`].
    pub fn ask(&mut self, request: &Request, limit: Duration) -> Result<Answer, LinkError> {
        self.send(request)?;
        self.answer(limit)
    }

    /// Waits for an answer.
    ///
    /// # Errors
    ///
    /// Every [`LinkError`].
    pub fn answer(&mut self, limit: Duration) -> Result<Answer, LinkError> {
        match self.receive(Some(limit))? {
            Answer::Failed { message } => Err(LinkError::Failed(message)),
            answer => Ok(answer),
        }
    }
}

/// The error for an answer that was not due.
pub fn unexpected(answer: &Answer) -> LinkError {
    LinkError::Confused(format!("unexpected answer: {answer:?}"))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (Link, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let link =
            Link::connect(listener.local_addr().expect("bound"), Duration::from_secs(5)).expect("a listener");
        (link, listener.accept().expect("a connection").0)
    }

    #[test]
    fn asking_and_failing() {
        let (mut link, other) = pair();
        let mut other = Link::new(other).expect("a socket");
        other.send(&Answer::Done).expect("sent");
        other.send(&Answer::Failed { message: "no".into() }).expect("sent");
        assert_eq!(link.ask(&Request::ResetPeak, Duration::from_secs(5)).expect("an answer"), Answer::Done);
        assert_eq!(other.receive::<Request>(None).expect("a request"), Request::ResetPeak);
        let failed = link.answer(Duration::from_secs(5));
        assert!(matches!(failed, Err(LinkError::Failed(message)) if message == "no"));
    }

    #[test]
    fn lines_in_pieces_and_ends() {
        let (mut link, mut other) = pair();
        other.write_all(b"{\"answer\":\"do").expect("sent");
        assert!(matches!(link.answer(Duration::ZERO), Err(LinkError::Silent(_))));
        let (mut link, mut other) = pair();
        let writer = std::thread::spawn(move || {
            for piece in [&b"{\"answer\""[..], b":\"done\"", b"}\nrubbish\n"] {
                other.write_all(piece).expect("sent");
                other.flush().expect("sent");
            }
        });
        assert_eq!(link.answer(Duration::from_secs(5)).expect("an answer"), Answer::Done);
        assert!(matches!(link.answer(Duration::from_secs(5)), Err(LinkError::Confused(_))));
        writer.join().expect("the writer");
        assert!(matches!(link.answer(Duration::from_secs(5)), Err(LinkError::Ended)));
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let (link, _other) = pair();
        let mut link = link.interrupted_by(|| true);
        assert!(matches!(link.answer(Duration::from_secs(60)), Err(LinkError::Interrupted)));
    }
}
