use std::future::poll_fn;

use bytes::Bytes;
use tokio::time::{Instant, timeout_at};

use super::options::{CallOptions, ReplyMetadata};
use crate::{
    Body, Error, Request, RequestHead, Response, Sent, Stage, Transport, TransportError, TransportErrorKind,
};

/// Who ends a call at its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// The transport, in the one timer that each of its connections has.
    Transport,
    /// The call itself.
    Own,
}

/// One request on its way to its response.
pub(super) struct Exchange<S> {
    transport: S,
    head: RequestHead,
    body: Bytes,
    timer: Timer,
    retries: u32,
    idempotent: bool,
    reply: Option<ReplyMetadata>,
}

impl<S: Transport> Exchange<S> {
    pub(super) fn new(
        transport: S,
        mut head: RequestHead,
        body: Bytes,
        timer: Timer,
        options: &CallOptions,
    ) -> Self {
        let ends = options.deadline_from(Instant::now().into_std());
        head.deadline = match (head.deadline, ends) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        if !options.pairs().is_empty() {
            head.metadata.extend(options.pairs().clone());
        }
        let (retries, idempotent) = (options.max_retries(), options.is_idempotent());
        Self { transport, head, body, timer, retries, idempotent, reply: options.reply_slot().cloned() }
    }

    /// Where the caller wants the answer's metadata.
    pub(super) fn reply_metadata(&self) -> Option<ReplyMetadata> {
        self.reply.clone()
    }

    /// Sends the request until it is answered, may not be sent again, or its time is up.
    pub(super) async fn run(mut self) -> Result<Response<Body>, Error> {
        loop {
            let last = self.retries == 0;
            let head = if last { std::mem::take(&mut self.head) } else { self.head.clone() };
            let (service, method) = (head.service.clone(), head.method.clone());
            let error = match self.attempt(head).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            if last || !self.may_retry(&error) {
                return Err(error.calling(service, method));
            }
            self.retries -= 1;
        }
    }

    async fn attempt(&mut self, head: RequestHead) -> Result<Response<Body>, Error> {
        let deadline = head.deadline;
        let request = Request { head, body: Body::Once(self.body.clone()) };
        let transport = &mut self.transport;
        let sent = async {
            poll_fn(|cx| transport.poll_ready(cx))
                .await
                .map_err(|error| Error::from_service(error.into()))?;
            transport.call(request).await.map_err(|error| Error::from_service(error.into()))
        };
        match deadline {
            Some(deadline) if self.timer == Timer::Own => match timeout_at(deadline.into(), sent).await {
                Ok(result) => result,
                Err(_) => Err(TransportError::deadline(Stage::Receive, Sent::Maybe).into()),
            },
            _ => sent.await,
        }
    }

    /// Only a connection that went away is worth another try at once: it stood in a pool or is one of several. A peer
    /// that can not be reached is reported, and a call's own faults stay what they are.
    fn may_retry(&self, error: &Error) -> bool {
        let gone = error.transport().is_some_and(|error| {
            matches!(error.kind(), TransportErrorKind::Closed | TransportErrorKind::ShuttingDown)
        });
        gone && (error.sent() == Sent::No || self.idempotent) && !self.expired()
    }

    fn expired(&self) -> bool {
        self.head.deadline.is_some_and(|deadline| deadline <= Instant::now().into_std())
    }
}
