//! No system at all: what is left when it is measured is the load generator.

use std::sync::Arc;

use crate::message::ACTION;
use crate::system::{BoxError, Caller, Echo, Reply};

/// Whether a call gives the other virtual clients their turn, as every call that waits for a socket does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// It returns at once.
    Keep,
    /// It goes once through the runtime's queue.
    Give,
}

impl Turns {
    /// The name that an order carries in place of a system's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "no-op",
            Self::Give => "no-op, taking turns",
        }
    }
}

/// Answers in the process, out of one buffer.
#[derive(Debug)]
pub struct NoopCaller {
    answer: Arc<Vec<u8>>,
    turns: Turns,
}

impl NoopCaller {
    /// A caller.
    pub fn new(turns: Turns) -> Self {
        Self { answer: Arc::new(Vec::new()), turns }
    }
}

impl Caller for NoopCaller {
    type Reply = NoopReply;

    async fn call(&mut self, request: Echo<'_>) -> Result<NoopReply, BoxError> {
        // The reply of the call before has been dropped, so this reuses its buffer; nothing is allocated.
        let answer = Arc::make_mut(&mut self.answer);
        answer.clear();
        answer.extend_from_slice(request.msg.as_bytes());
        if self.turns == Turns::Give {
            tokio::task::yield_now().await;
        }
        Ok(NoopReply(Arc::clone(&self.answer)))
    }
}

/// The request's own bytes.
#[derive(Debug)]
pub struct NoopReply(Arc<Vec<u8>>);

impl Reply for NoopReply {
    fn action(&self) -> &[u8] {
        ACTION.as_bytes()
    }

    fn msg(&self) -> &[u8] {
        &self.0
    }
}
