use std::collections::VecDeque;
use std::future::ready;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rpc_core::{Sent, Stage, TransportError, TransportErrorKind};
use rpc_net::{Bound, Connect, Dialer, Server, ServerGauges, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use crate::{Net, PipeConfig, PipeEnd, Traffic, pipe};

/// Dials the server of a test. Clones dial the same.
#[derive(Clone, Debug)]
pub struct Wire {
    road: Road,
    dials: Arc<AtomicUsize>,
    endpoint: Arc<str>,
}

#[derive(Clone, Debug)]
enum Road {
    Memory(Arc<Memory>),
    Tcp(Dialer),
    Script(mpsc::UnboundedSender<PipeEnd>, PipeConfig),
}

#[derive(Debug)]
struct Memory {
    /// Gone once it stops.
    server: Mutex<Option<Bound>>,
    usual: PipeConfig,
    /// How the first pipes are; those after them are as usual.
    first: Mutex<VecDeque<PipeConfig>>,
    traffic: Mutex<Vec<Arc<Traffic>>>,
}

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    road: Road,
    gauges: ServerGauges,
    stop: Arc<Notify>,
    task: Option<JoinHandle<io::Result<()>>>,
}

impl Wire {
    /// Runs a server on a network, whose pipes, where it has some, are like `usual` but for the `first`.
    ///
    /// # Panics
    /// When it can not listen.
    pub async fn to(
        server: Server,
        net: Net,
        usual: PipeConfig,
        first: impl IntoIterator<Item = PipeConfig>,
    ) -> (Self, Running) {
        let (road, endpoint, gauges, stop, task): (_, Arc<str>, _, _, _) = match net {
            Net::Memory => {
                let bound = server.unbound();
                let gauges = bound.gauges();
                let memory = Memory {
                    server: Mutex::new(Some(bound)),
                    usual,
                    first: Mutex::new(first.into_iter().collect()),
                    traffic: Mutex::default(),
                };
                (Road::Memory(Arc::new(memory)), "memory".into(), gauges, Arc::default(), None)
            }
            Net::Tcp => {
                let bound = server.listen("127.0.0.1:0").await.expect("a port of the system's choice");
                let address = bound.local_addr().expect("a TCP address").to_string();
                let (gauges, stop) = (bound.gauges(), Arc::new(Notify::new()));
                let stopped = stop.clone();
                let task = tokio::spawn(async move { bound.serve_until(stopped.notified()).await });
                (Road::Tcp(Dialer::new(&address)), address.as_str().into(), gauges, stop, Some(task))
            }
        };
        let wire = Self { road: road.clone(), dials: Arc::default(), endpoint };
        (wire, Running { road, gauges, stop, task })
    }

    /// Dials a peer whose part the test plays itself.
    pub fn to_script(pipe: PipeConfig) -> (Self, Script) {
        let (sender, ends) = mpsc::unbounded_channel();
        let wire =
            Self { road: Road::Script(sender, pipe), dials: Arc::default(), endpoint: "script".into() };
        (wire, Script { ends })
    }

    /// How often it was dialled.
    pub fn dials(&self) -> usize {
        self.dials.load(Ordering::SeqCst)
    }

    /// What went through the pipes, in the order in which they were made. Empty for sockets.
    pub fn traffic(&self) -> Vec<Arc<Traffic>> {
        match &self.road {
            Road::Memory(memory) => lock(&memory.traffic).clone(),
            Road::Tcp(_) | Road::Script(..) => Vec::new(),
        }
    }

    /// Connects without a protocol, to send bytes by hand.
    ///
    /// # Errors
    /// When the server is gone.
    pub async fn dial(&self) -> Result<Stream, TransportError> {
        self.dials.fetch_add(1, Ordering::SeqCst);
        let end = match &self.road {
            Road::Tcp(dialer) => return dialer.connect().await,
            Road::Memory(memory) => memory.dial(),
            Road::Script(peers, config) => {
                let (client, server) = pipe(*config);
                peers.send(server).ok().map(|()| client)
            }
        };
        end.map(|end| Stream::Other(Box::new(end))).ok_or_else(|| {
            TransportError::new(TransportErrorKind::Connect, Stage::Connect, Sent::No)
                .at(self.endpoint.clone())
                .because(io::Error::from(io::ErrorKind::ConnectionRefused))
        })
    }

    /// Connects as [`dial`](Self::dial), where the network is memory, and gives the pipe's end itself.
    ///
    /// # Panics
    /// Over TCP, and when the server is gone.
    pub fn dial_pipe(&self) -> PipeEnd {
        match &self.road {
            Road::Memory(memory) => memory.dial().expect("the server runs"),
            Road::Tcp(_) | Road::Script(..) => panic!("there is no server at the end of a pipe"),
        }
    }
}

impl Memory {
    fn dial(&self) -> Option<PipeEnd> {
        let config = lock(&self.first).pop_front().unwrap_or(self.usual);
        let (client, server) = pipe(config);
        let serving = lock(&self.server).as_ref()?.serve_io(server);
        tokio::spawn(serving);
        lock(&self.traffic).push(client.traffic());
        Some(client)
    }
}

impl Connect for Wire {
    type Io = Stream;

    async fn connect(&self) -> Result<Stream, TransportError> {
        self.dial().await
    }

    fn endpoint(&self) -> &Arc<str> {
        &self.endpoint
    }
}

impl Running {
    /// What goes on in the server.
    pub fn gauges(&self) -> &ServerGauges {
        &self.gauges
    }

    /// Begins to stop it.
    pub fn begin_stop(&mut self) {
        match &self.road {
            Road::Memory(memory) => {
                if let Some(bound) = lock(&memory.server).take() {
                    self.task = Some(tokio::spawn(bound.serve_until(ready(()))));
                }
            }
            Road::Tcp(_) | Road::Script(..) => self.stop.notify_one(),
        }
    }

    /// Whether it has stopped wholly.
    pub fn has_stopped(&self) -> bool {
        self.task.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Returns once it has stopped wholly.
    ///
    /// # Panics
    /// When it panicked.
    pub async fn stopped(&mut self) {
        self.begin_stop();
        if let Some(task) = self.task.take() {
            task.await.expect("no panic").expect("a server ends well");
        }
    }
}

/// The other side of [`Wire::to_script`]. Dropping it refuses further connections.
#[derive(Debug)]
pub struct Script {
    ends: mpsc::UnboundedReceiver<PipeEnd>,
}

impl Script {
    /// The next connection that is made.
    ///
    /// # Panics
    /// When nobody is left who could make one.
    pub async fn accept(&mut self) -> Peer {
        Peer(self.ends.recv().await.expect("a connection"))
    }

    /// Whether a connection was made that was not accepted yet.
    pub fn is_dialled(&self) -> bool {
        !self.ends.is_empty()
    }
}

/// A peer on one connection, played by hand. Dropping it closes the connection.
#[derive(Debug)]
pub struct Peer(PipeEnd);

impl Peer {
    /// The next so many bytes.
    ///
    /// # Panics
    /// When the connection ends before.
    pub async fn take(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes).await.expect("more bytes");
        bytes
    }

    /// The next message that stands behind four bytes of length, without those.
    ///
    /// # Panics
    /// When the connection ends before.
    pub async fn take_frame(&mut self) -> Vec<u8> {
        let len = self.0.read_u32().await.expect("a length");
        self.take(usize::try_from(len).expect("a length that fits")).await
    }

    /// Sends bytes.
    ///
    /// # Panics
    /// When the connection is gone.
    pub async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.expect("the connection stands");
    }

    /// What comes until the client closes the connection.
    pub async fn take_rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset is as good an end as any here.
        let _ = self.0.read_to_end(&mut rest).await;
        rest
    }

    /// Goes without a goodbye.
    pub fn reset(self) {
        self.0.reset();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
