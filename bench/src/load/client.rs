//! The loop of one virtual client.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use super::deadline::Slot;
use super::recorder::Batch;
use super::round::{Shared, Tally};
use crate::message::{Outcome, Template};
use crate::system::{BoxError, Caller};
use crate::work;

/// A client that fails this often in a row gives up: its connection is gone, and calling on would only burn CPU.
const HOPELESS: u32 = 1_000;

/// One virtual client, between rounds.
#[derive(Debug)]
pub struct VirtualClient<C> {
    caller: C,
    template: Template,
    slot: Arc<Slot>,
}

impl<C: Caller> VirtualClient<C> {
    /// A client that calls with `caller` and takes its requests from `template`.
    pub fn new(caller: C, template: Template) -> Self {
        Self { caller, template, slot: Arc::default() }
    }

    /// The mark that the watchdog looks at.
    pub fn slot(&self) -> Arc<Slot> {
        Arc::clone(&self.slot)
    }

    /// Calls until the round is over. Returns the client and what it saw.
    pub async fn run(mut self, shared: Arc<Shared>) -> (Self, Tally) {
        poll_fn(|cx| {
            self.slot.watch(cx.waker());
            Poll::Ready(())
        })
        .await;
        let mut tally = Tally::default();
        let mut batch = Batch::new();
        let mut failures = 0;
        let mut ended = shared.now_ns();
        while let Some(ticket) = shared.next(ended) {
            self.template.advance();
            let began = shared.now_ns();
            let reply = self.call(began).await;
            ended = shared.now_ns();
            tally.issued += 1;
            match reply {
                Ok(reply) => {
                    failures = 0;
                    work::count_one();
                    match self.template.check(&reply) {
                        Outcome::Right if shared.counts(ticket, ended) => {
                            tally.recorded += 1;
                            tally.first_ns = tally.first_ns.min(began);
                            tally.last_ns = ended;
                            batch.push(ended - began, &shared.recorder);
                        }
                        Outcome::Right => {}
                        Outcome::Swapped => tally.swapped += 1,
                        Outcome::Duplicate => tally.duplicate += 1,
                        Outcome::Corrupt => tally.corrupt += 1,
                    }
                }
                Err(failure) => {
                    failures += 1;
                    tally.fail(failure);
                    if failures == HOPELESS {
                        break;
                    }
                    // An error can come without waiting for anything; the others must get their turn.
                    tokio::task::yield_now().await;
                }
            }
        }
        self.slot.clear();
        batch.flush(&shared.recorder);
        (self, tally)
    }

    async fn call(&mut self, began: u64) -> Result<C::Reply, Failure> {
        let slot = &*self.slot;
        slot.begin(began);
        let mut call = pin!(self.caller.call(self.template.request()));
        poll_fn(|cx| {
            // The system goes first: an answer that has come is an answer, however late this look is.
            if let Poll::Ready(result) = call.as_mut().poll(cx) {
                return Poll::Ready(result.map_err(Failure::Error));
            }
            if slot.overdue() {
                slot.clear();
                return Poll::Ready(Err(Failure::Timeout));
            }
            Poll::Pending
        })
        .await
    }
}

/// A call without a reply.
#[derive(Debug)]
pub enum Failure {
    /// It took longer than `--timeout`.
    Timeout,
    /// The system said so.
    Error(BoxError),
}
