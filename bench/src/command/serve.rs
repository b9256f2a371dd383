//! `serve`: a supervisor that starts a fresh server process whenever a load asks for one.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use crate::child::spawn::{self, Process};
use crate::child::{Ready, VERSION, announce};
use crate::cli::settings::{Machine, resolve};
use crate::cli::values::{count, unknown};
use crate::cli::{Flags, Serve};
use crate::control::link::{Link, LinkError};
use crate::control::messages::{Answer, Request, ServerOrder};
use crate::drive::host::{ANSWER_WITHIN, spawn_failure};
use crate::exit::Failure;
use crate::message::LARGEST_BODY;
use crate::system::Dispatch;
use crate::system::registry;

/// Serves until it is ended.
///
/// # Errors
///
/// See [`Failure`].
pub fn run(serve: &Serve, flags: &Flags) -> Result<(), Failure> {
    let addr = address("--addr", &serve.addr)?;
    let control = address("--control", &serve.control)?;
    // Only for the pinning; which system is measured is the load's business.
    let placed = Flags { system: vec!["tonic".to_owned()], pin: flags.pin.clone(), ..Flags::default() };
    let split = resolve(&placed, &Machine::here())?.split;
    let threads = match serve.threads.as_deref() {
        Some(word) => count("--threads", word, 1, 1024)?,
        None => split.server.len(),
    };
    let cpus = if split.pinned { split.server } else { Vec::new() };
    let first = match flags.system.as_slice() {
        [] => None,
        [name] if registry::find(name).is_some() => Some(name.clone()),
        [name, ..] => {
            let names: Vec<&str> = registry::all().iter().map(|entry| entry.name).collect();
            return Err(unknown("system", name, &names));
        }
    };
    let mut supervisor = Supervisor { addr, threads, cpus, current: None };
    let listener =
        TcpListener::bind(control).map_err(|error| Failure::internal(format!("{control}: {error}")))?;
    let mut served = None;
    if let Some(system) = first {
        let order = ServerOrder {
            system,
            addr,
            threads,
            cpus: Vec::new(),
            body: LARGEST_BODY,
            dispatch: Dispatch::default(),
        };
        served = Some(supervisor.start(order)?);
    }
    let control = listener.local_addr().map_err(Failure::internal)?;
    let ready = Ready { addr: served, control, pid: std::process::id(), version: VERSION.to_owned() };
    announce(&ready).map_err(|_| Failure::Closed)?;
    for stream in listener.incoming() {
        let Ok(link) = stream.map_err(LinkError::Io).and_then(Link::new) else { continue };
        // One load at a time; the next one waits in the listener's queue.
        if let Err(error) = supervisor.obey(link)
            && !matches!(error, LinkError::Ended)
        {
            eprintln!("control connection: {error}");
        }
    }
    Ok(())
}

/// An address, names resolved.
///
/// # Errors
///
/// [`Failure::Usage`] if it is none.
pub fn address(flag: &str, text: &str) -> Result<SocketAddr, Failure> {
    let bad = || Failure::usage(format!("{flag}: '{text}' is not host:port"), "such as 127.0.0.1:7000");
    text.to_socket_addrs().map_err(|_| bad())?.next().ok_or_else(bad)
}

struct Supervisor {
    addr: SocketAddr,
    threads: usize,
    cpus: Vec<usize>,
    current: Option<(Process, Link)>,
}

impl Supervisor {
    /// Ends the current server, if any, and starts another one on this machine's own terms.
    fn start(&mut self, mut order: ServerOrder) -> Result<SocketAddr, Failure> {
        self.current = None;
        order.addr = self.addr;
        order.threads = self.threads;
        order.cpus.clone_from(&self.cpus);
        let text = serde_json::to_string(&order).map_err(Failure::internal)?;
        let (process, link) = spawn::spawn("serve", &text).map_err(|error| spawn_failure(&error))?;
        let addr = process.ready.addr.ok_or_else(|| Failure::Internal("a server without address".into()))?;
        self.current = Some((process, link));
        Ok(addr)
    }

    fn obey(&mut self, mut link: Link) -> Result<(), LinkError> {
        loop {
            let answer = match link.receive(None)? {
                Request::Hello { .. } => Answer::Hello { version: VERSION.to_owned() },
                Request::Start(order) => match self.start(order) {
                    Ok(addr) => Answer::Ready { addr },
                    Err(failure) => Answer::Failed { message: failure.to_string() },
                },
                Request::Stop => {
                    self.current = None;
                    Answer::Done
                }
                other => self.pass_on(&other),
            };
            link.send(&answer)?;
        }
    }

    /// Everything else is for the server process.
    fn pass_on(&mut self, request: &Request) -> Answer {
        let Some((_, link)) = &mut self.current else {
            return Answer::Failed { message: "no server is running".to_owned() };
        };
        link.ask(request, ANSWER_WITHIN).unwrap_or_else(|error| Answer::Failed { message: error.to_string() })
    }
}
