use std::collections::VecDeque;
use std::future::ready;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rpc_core::{Sent, Stage, TransportError, TransportErrorKind};
use rpc_net::{Bound, Connect, Dialer, Server, ServerGauges, Stream};
use tokio::sync::Notify;
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

    /// How often it was dialled.
    pub fn dials(&self) -> usize {
        self.dials.load(Ordering::SeqCst)
    }

    /// What went through the pipes, in the order in which they were made. Empty for sockets.
    pub fn traffic(&self) -> Vec<Arc<Traffic>> {
        match &self.road {
            Road::Memory(memory) => lock(&memory.traffic).clone(),
            Road::Tcp(_) => Vec::new(),
        }
    }

    /// Connects without a protocol, to send bytes by hand.
    ///
    /// # Errors
    /// When the server is gone.
    pub async fn dial(&self) -> Result<Stream, TransportError> {
        self.dials.fetch_add(1, Ordering::SeqCst);
        match &self.road {
            Road::Tcp(dialer) => dialer.connect().await,
            Road::Memory(memory) => memory.dial().map(|end| Stream::Other(Box::new(end))).ok_or_else(|| {
                TransportError::new(TransportErrorKind::Connect, Stage::Connect, Sent::No)
                    .at(self.endpoint.clone())
                    .because(io::Error::from(io::ErrorKind::ConnectionRefused))
            }),
        }
    }

    /// Connects as [`dial`](Self::dial), where the network is memory, and gives the pipe's end itself.
    ///
    /// # Panics
    /// Over TCP, and when the server is gone.
    pub fn dial_pipe(&self) -> PipeEnd {
        match &self.road {
            Road::Memory(memory) => memory.dial().expect("the server runs"),
            Road::Tcp(_) => panic!("a socket is no pipe"),
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
            Road::Tcp(_) => self.stop.notify_one(),
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
