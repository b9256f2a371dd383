use rpc_core::{Error, Stage, Status, TransportErrorKind};

/// What a caller is told when a member could not be asked: in the words of Jubatus's proxies, whose clients look for these.
/// They stand alone in the error value, so their class is the one that puts no name of its own before them.
pub(crate) fn of(member: &str, error: &Error) -> Status {
    tracing::debug!(member, %error, "a member did not answer");
    let Some(transport) = error.transport() else { return Status::unknown(error.to_string()) };
    Status::unknown(match (transport.kind(), transport.stage()) {
        // It never got as far as the member.
        (TransportErrorKind::Deadline, Stage::Resolve | Stage::Connect | Stage::Queue) => TIMEOUT,
        (TransportErrorKind::Deadline, _) => TIMED_OUT,
        (TransportErrorKind::Connect | TransportErrorKind::Closed | TransportErrorKind::ShuttingDown, _) => {
            CONNECT
        }
        _ => return Status::unknown(error.to_string()),
    })
}

pub(crate) fn nobody() -> Status {
    Status::unknown("no server found")
}

const CONNECT: &str = "connect error in proxy";
const TIMEOUT: &str = "timeout error in proxy";
const TIMED_OUT: &str = "request timed out";

#[cfg(test)]
mod tests {
    use rpc_core::{Sent, TransportError};

    use super::*;

    #[test]
    fn failures_are_told_in_jubatus_s_words() {
        for (kind, stage, words) in [
            (TransportErrorKind::Connect, Stage::Connect, "connect error in proxy"),
            (TransportErrorKind::Closed, Stage::Receive, "connect error in proxy"),
            (TransportErrorKind::ShuttingDown, Stage::Receive, "connect error in proxy"),
            (TransportErrorKind::Deadline, Stage::Queue, "timeout error in proxy"),
            (TransportErrorKind::Deadline, Stage::Receive, "request timed out"),
        ] {
            let error = TransportError::new(kind, stage, Sent::Maybe).into();
            assert_eq!(of("a", &error), Status::unknown(words));
        }
        let error: Error = TransportError::new(TransportErrorKind::TooLarge, Stage::Send, Sent::No).into();
        assert_eq!(of("a", &error).message(), error.to_string());
    }
}
