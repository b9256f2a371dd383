use std::fmt;
use std::sync::Arc;

use rpc_core::TransportError;

/// A failure to connect that many calls share, as the cause of each one's own error: it says what lies below, since the rest
/// stands in the error around it.
#[derive(Clone, Debug)]
pub struct DialFailure(Arc<TransportError>);

impl DialFailure {
    /// What the attempt failed with.
    pub fn new(failure: Arc<TransportError>) -> Self {
        Self(failure)
    }
}

impl fmt::Display for DialFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::error::Error::source(&*self.0) {
            Some(cause) => fmt::Display::fmt(cause, f),
            None => f.write_str("the last attempt failed"),
        }
    }
}

impl std::error::Error for DialFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        std::error::Error::source(&*self.0)
    }
}
