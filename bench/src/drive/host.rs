//! Where servers run: as children of this process, or under a `bench serve` on another machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::child::VERSION;
use crate::child::spawn::{self, Process};
use crate::control::link::{Link, LinkError, unexpected};
use crate::control::messages::{Answer, Request, ServerOrder};
use crate::exit::Failure;
use crate::interrupt;
use crate::process::Mark;

/// A server answers a question within this time, however busy it is.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// A supervisor elsewhere answers its first question within this time.
const GREET_WITHIN: Duration = Duration::from_secs(5);

/// Where servers run.
#[derive(Debug)]
pub enum Host {
    /// On this machine.
    Here,
    /// On another one.
    There {
        /// Its supervisor.
        link: Box<Link>,
        /// Its address as seen from here.
        target: IpAddr,
        /// The port to ask for; 0 for any.
        port: u16,
    },
}

impl Host {
    /// The supervisor at `control`, whose servers are reached at `target`.
    ///
    /// # Errors
    ///
    /// If nobody answers there, or someone of another version.
    pub fn there(target: SocketAddr, control: SocketAddr) -> Result<Self, Failure> {
        let silent = |error: LinkError| Failure::Internal(format!("no answer from {control}: {error}"));
        let mut link =
            Link::connect(control, GREET_WITHIN).map_err(silent)?.interrupted_by(interrupt::requested);
        match link.ask(&Request::Hello { version: VERSION.to_owned() }, GREET_WITHIN).map_err(silent)? {
            Answer::Hello { version } if version == VERSION => {
                Ok(Self::There { link: Box::new(link), target: target.ip(), port: target.port() })
            }
            Answer::Hello { version } => Err(Failure::usage(
                format!("the server is bench {version}, this is bench {VERSION}"),
                "use the same program on both machines",
            )),
            other => Err(silent(unexpected(&other))),
        }
    }

    /// Whether servers run on this machine.
    pub fn is_here(&self) -> bool {
        matches!(self, Self::Here)
    }

    /// Starts a fresh server process. The address in the order is filled in here.
    ///
    /// # Errors
    ///
    /// If it does not come up.
    pub fn start(&mut self, mut order: ServerOrder) -> Result<Server<'_>, Failure> {
        match self {
            Self::Here => {
                order.addr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
                let text = serde_json::to_string(&order).map_err(Failure::internal)?;
                let (process, link) = spawn::spawn("serve", &text).map_err(|error| spawn_failure(&error))?;
                let addr =
                    process.ready.addr.ok_or_else(|| Failure::Internal("a server without address".into()))?;
                Ok(Server { addr, link: Owned::Own(Box::new(link)), _process: Some(process) })
            }
            Self::There { link, target, port } => {
                order.addr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), *port);
                match link.ask(&Request::Start(order), ANSWER_WITHIN).map_err(link_failure)? {
                    Answer::Ready { addr } => Ok(Server {
                        addr: SocketAddr::new(*target, addr.port()),
                        link: Owned::Lent(link),
                        _process: None,
                    }),
                    other => Err(link_failure(unexpected(&other))),
                }
            }
        }
    }
}

/// A server process, ended when this is dropped.
#[derive(Debug)]
pub struct Server<'h> {
    /// Where it serves, as seen from here.
    pub addr: SocketAddr,
    link: Owned<'h>,
    _process: Option<Process>,
}

#[derive(Debug)]
enum Owned<'h> {
    Own(Box<Link>),
    Lent(&'h mut Link),
}

impl Server<'_> {
    /// A reading of its process.
    ///
    /// # Errors
    ///
    /// If it is gone.
    pub fn mark(&mut self) -> Result<Mark, Failure> {
        match self.ask(&Request::Mark)? {
            Answer::Mark(mark) => Ok(mark),
            other => Err(link_failure(unexpected(&other))),
        }
    }

    /// Asks for anything else.
    ///
    /// # Errors
    ///
    /// If it is gone.
    pub fn ask(&mut self, request: &Request) -> Result<Answer, Failure> {
        let link = match &mut self.link {
            Owned::Own(link) => link,
            Owned::Lent(link) => &mut **link,
        };
        link.ask(request, ANSWER_WITHIN).map_err(|error| match link_failure(error) {
            Failure::Internal(what) => Failure::Internal(format!("server: {what}")),
            other => other,
        })
    }
}

/// What a failed control connection means for the run.
pub fn link_failure(error: LinkError) -> Failure {
    match error {
        LinkError::Interrupted => Failure::Interrupted,
        other => Failure::internal(other),
    }
}

/// What a child that did not come up means for the run.
pub fn spawn_failure(error: &spawn::SpawnError) -> Failure {
    if interrupt::requested() { Failure::Interrupted } else { Failure::internal(error) }
}
