//! The test of busy handlers, in the load process: do the handlers of one connection use all cores, and does a
//! quiet connection suffer meanwhile?

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use crate::child::load::Job;
use crate::control::messages::{Answer, Request};
use crate::message::{Outcome, Template, Verify};
use crate::process::{Mark, Window};
use crate::stats::latency::{Latencies, PackedLatencies};
use crate::system::{BoxError, Burn, Caller, ClientConfig, System};

/// Probes that can wait at once. At one a millisecond this covers a quarter of a second without any answer.
const PROBES: usize = 256;
const PROBE_BODY: usize = 64;

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusyOrder {
    /// Name of the system.
    pub system: String,
    /// The server.
    pub target: SocketAddr,
    /// Handlers that burn at the same time, on one connection.
    pub burners: usize,
    /// CPU that each of them burns, µs.
    pub micros: u32,
    /// How often the burners run together, and how often one after the other.
    pub waves: usize,
    /// How long the quiet connection is watched, ns: once with the burners at work, once without.
    pub watch_ns: u64,
    /// A probe is sent this often, ns.
    pub probe_every_ns: u64,
    /// Limit of a call, ns.
    pub timeout_ns: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BusyReport {
    /// Wall time of the burners one after the other, ns, a wave each.
    pub serial_ns: Vec<u64>,
    /// Wall time of the burners together, ns, a wave each.
    pub together_ns: Vec<u64>,
    /// Waits of the quiet connection's calls without burners.
    pub idle: PackedLatencies,
    /// The same while the burners work.
    pub busy: PackedLatencies,
    /// Probes that could not even be sent, because all before them were still waiting.
    pub unsent: u64,
    /// CPU of the load process meanwhile.
    pub usage: Window,
}

/// Connects twice and runs the test when told.
///
/// # Errors
///
/// Whatever kept it from connecting, a call that failed, or the control connection's.
pub fn drive<S: System<Caller: Burn>>(job: Job<'_>, order: &BusyOrder) -> Result<(), BoxError> {
    let config = |callers| ClientConfig {
        addr: order.target,
        callers,
        connections: 1,
        threads: job.workers,
        body: PROBE_BODY,
        timeout: Duration::from_nanos(order.timeout_ns),
    };
    let burners = job.runtime.block_on(S::connect(config(order.burners)))?;
    let probes = job.runtime.block_on(S::connect(config(PROBES)))?;
    match job.link.receive(None)? {
        Request::Go => {}
        other => return Err(format!("expected a start, not {other:?}").into()),
    }
    let report = job.runtime.block_on(test(burners, probes, order.clone()))?;
    job.link.send(&Answer::Busy(Box::new(report)))?;
    match job.link.receive(None)? {
        Request::Stop => Ok(job.link.send(&Answer::Done)?),
        other => Err(format!("expected an end, not {other:?}").into()),
    }
}

async fn test<C: Burn>(
    mut burners: Vec<C>,
    probes: Vec<C>,
    order: BusyOrder,
) -> Result<BusyReport, BoxError> {
    let open = Mark::now();
    let mut serial_ns = Vec::new();
    let mut together_ns = Vec::new();
    // One wave each way that does not count: threads start and code is paged in.
    serial(&mut burners, order.micros).await?;
    burners = together(burners, order.micros).await?.0;
    for _ in 0..order.waves {
        serial_ns.push(serial(&mut burners, order.micros).await?);
        let (back, took) = together(burners, order.micros).await?;
        burners = back;
        together_ns.push(took);
    }
    let watch = Duration::from_nanos(order.watch_ns);
    let every = Duration::from_nanos(order.probe_every_ns);
    let (probes, idle, _) = tokio::spawn(probe(probes, watch, every)).await??;
    let probing = tokio::spawn(probe(probes, watch, every));
    while !probing.is_finished() {
        burners = together(burners, order.micros).await?.0;
    }
    let (_, busy, unsent) = probing.await??;
    let usage = Window { open, close: Mark::now() };
    Ok(BusyReport { serial_ns, together_ns, idle: idle.pack(), busy: busy.pack(), unsent, usage })
}

async fn serial<C: Burn>(burners: &mut [C], micros: u32) -> Result<u64, BoxError> {
    let began = Instant::now();
    for burner in burners {
        burner.burn(micros).await?;
    }
    Ok(since(began))
}

async fn together<C: Burn>(burners: Vec<C>, micros: u32) -> Result<(Vec<C>, u64), BoxError> {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for mut burner in burners {
        tasks.spawn(async move { burner.burn(micros).await.map(|()| burner) });
    }
    let mut back = Vec::new();
    while let Some(burner) = tasks.join_next().await {
        back.push(burner??);
    }
    Ok((back, since(began)))
}

/// Sends a trivial call at every tick, whether or not the ones before have been answered, so that a stall is seen by
/// every call that it delays.
async fn probe<C: Caller>(
    callers: Vec<C>,
    watch: Duration,
    every: Duration,
) -> Result<(Vec<C>, Latencies, u64), BoxError> {
    let mut free: Vec<(C, Template)> = (0..)
        .zip(callers)
        .map(|(client, caller)| (caller, Template::new(0, client, PROBE_BODY, Verify::Full)))
        .collect();
    let mut waiting = JoinSet::new();
    let mut latencies = Latencies::new();
    let mut unsent = 0;
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let began = Instant::now();
    while began.elapsed() < watch {
        ticks.tick().await;
        while let Some(done) = waiting.try_join_next() {
            free.push(take(done?, &mut latencies)?);
        }
        match free.pop() {
            Some((mut caller, mut template)) => {
                let sent = Instant::now();
                waiting.spawn(async move {
                    template.advance();
                    let reply = caller.call(template.request()).await?;
                    let took = since(sent);
                    let outcome = template.check(&reply);
                    Ok::<_, BoxError>((caller, template, took, outcome))
                });
            }
            None => unsent += 1,
        }
    }
    while let Some(done) = waiting.join_next().await {
        free.push(take(done?, &mut latencies)?);
    }
    Ok((free.into_iter().map(|(caller, _)| caller).collect(), latencies, unsent))
}

type Probed<C> = Result<(C, Template, u64, Outcome), BoxError>;

fn take<C>(probed: Probed<C>, latencies: &mut Latencies) -> Result<(C, Template), BoxError> {
    let (caller, template, took, outcome) = probed?;
    if outcome != Outcome::Right {
        return Err(format!("a probe's reply was wrong: {outcome:?}").into());
    }
    latencies.record(took);
    Ok((caller, template))
}

fn since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
