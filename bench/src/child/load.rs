//! A load process: one system, one control connection.

use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::{VERSION, die_with_parent, ready, runtime};
use crate::alloc::{self, Allocations};
use crate::control::link::{Link, LinkError};
use crate::control::messages::{AllocationPass, Answer, ClientOrder, LoadOrder, Request, Task};
use crate::load::client::VirtualClient;
use crate::load::round::{self, Edge, Extent, RoundOrder};
use crate::message::Template;
use crate::system::registry;
use crate::system::{BoxError, Caller, ClientConfig, System};
use crate::systems::noop::{NoopCaller, Turns};

/// What the part of this process that is generic over the system works with.
#[derive(Debug)]
pub struct Job<'a> {
    /// Where tasks run.
    pub runtime: &'a Runtime,
    /// Worker threads of it.
    pub workers: usize,
    /// The driver.
    pub link: &'a mut Link,
}

/// Does what the driver asks for until it, or its control connection, is gone.
///
/// # Errors
///
/// If the process can not be set up, or the control connection fails. Everything else is told to the driver.
pub fn run(order: &ClientOrder, parent: u32) -> Result<(), BoxError> {
    die_with_parent(parent)?;
    let runtime = runtime::build(order.threads, &order.cpus)?;
    let mut link = ready(None)?;
    let job = Job { runtime: &runtime, workers: order.threads, link: &mut link };
    let done = match &order.task {
        Task::Noop(task) => noop(job, task),
        Task::Load(task) => entry(&task.system).and_then(|entry| (entry.load)(job, task)),
        Task::Busy(task) => entry(&task.system).and_then(|entry| {
            let busy =
                entry.busy.ok_or_else(|| format!("'{}' has no handler that burns CPU", task.system))?;
            busy(job, task)
        }),
    };
    runtime.shutdown_background();
    match done {
        Err(error) if matches!(error.downcast_ref(), Some(LinkError::Ended)) => Ok(()),
        // The driver prints it.
        Err(error) => Ok(link.send(&Answer::Failed { message: round::chain(&*error) })?),
        Ok(()) => Ok(()),
    }
}

fn entry(system: &str) -> Result<&'static registry::Entry, BoxError> {
    Ok(registry::find(system).ok_or_else(|| format!("unknown system '{system}'"))?)
}

/// Connects with system `S` and runs rounds on request.
///
/// # Errors
///
/// Whatever kept it from connecting, or the control connection's.
pub fn drive<S: System>(job: Job<'_>, order: &LoadOrder) -> Result<(), BoxError> {
    let config = ClientConfig {
        addr: order.target,
        callers: order.callers,
        connections: order.connections,
        threads: job.workers,
        body: order.body,
        timeout: Duration::from_nanos(order.timeout_ns),
    };
    let began = Instant::now();
    let callers = job.runtime.block_on(S::connect(config))?;
    let connect_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    if callers.len() != order.callers {
        return Err(format!("{} gave {} callers instead of {}", S::NAME, callers.len(), order.callers).into());
    }
    obey(job, order, clients(callers, order), connect_ns)
}

fn noop(job: Job<'_>, order: &LoadOrder) -> Result<(), BoxError> {
    let turns = if order.system == Turns::Give.name() { Turns::Give } else { Turns::Keep };
    let callers = (0..order.callers).map(|_| NoopCaller::new(turns)).collect();
    obey(job, order, clients(callers, order), 0)
}

fn clients<C: Caller>(callers: Vec<C>, order: &LoadOrder) -> Vec<VirtualClient<C>> {
    let templates = (0..=u16::MAX).map(|client| Template::new(order.seed, client, order.body, order.verify));
    callers
        .into_iter()
        .zip(templates)
        .map(|(caller, template)| VirtualClient::new(caller, template))
        .collect()
}

fn obey<C: Caller>(
    job: Job<'_>,
    order: &LoadOrder,
    mut clients: Vec<VirtualClient<C>>,
    connect_ns: u64,
) -> Result<(), BoxError> {
    let Job { runtime, workers, link } = job;
    let timed = RoundOrder {
        warmup: Duration::from_nanos(order.warmup_ns),
        extent: order.extent,
        timeout: Duration::from_nanos(order.timeout_ns),
        workers,
    };
    loop {
        match link.receive(None)? {
            Request::Hello { .. } => link.send(&Answer::Hello { version: VERSION.to_owned() })?,
            Request::Go => {
                let (back, mut report) = round::run(runtime, clients, &timed, |edge| tell(link, edge))?;
                clients = back;
                report.connect_ns = connect_ns;
                link.send(&Answer::Report(Box::new(report)))?;
            }
            Request::CountAllocations { calls } => {
                let counted = RoundOrder { warmup: Duration::ZERO, extent: Extent::Requests(calls), ..timed };
                let own = own_allocations(runtime, order, &counted)?;
                let (back, total) = count_allocations(runtime, clients, &counted)?;
                clients = back;
                link.send(&Answer::Counted(AllocationPass { calls, total, own }))?;
            }
            Request::Stop => return Ok(link.send(&Answer::Done)?),
            other => {
                link.send(&Answer::Failed {
                    message: format!("a load generator can not do this: {other:?}"),
                })?;
            }
        }
    }
}

fn tell(link: &mut Link, edge: Edge) -> Result<(), BoxError> {
    Ok(link.send(&match edge {
        Edge::Opened => Answer::Opened,
        Edge::Closed => Answer::Closed,
    })?)
}

/// What the generator itself allocates in such a round, tokio's tasks and queues included.
fn own_allocations(
    runtime: &Runtime,
    order: &LoadOrder,
    round: &RoundOrder,
) -> Result<Allocations, BoxError> {
    let callers = (0..order.callers).map(|_| NoopCaller::new(Turns::Give)).collect();
    // The first round lets the no-op's buffers grow.
    let (back, _) = count_allocations(runtime, clients(callers, order), round)?;
    Ok(count_allocations(runtime, back, round)?.1)
}

fn count_allocations<C: Caller>(
    runtime: &Runtime,
    clients: Vec<VirtualClient<C>>,
    round: &RoundOrder,
) -> Result<(Vec<VirtualClient<C>>, Allocations), BoxError> {
    alloc::start();
    let outcome = round::run(runtime, clients, round, |_| Ok(()));
    let counted = alloc::stop();
    Ok((outcome?.0, counted))
}
