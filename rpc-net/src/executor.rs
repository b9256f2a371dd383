use rpc_core::{BoxFuture, Executor};
use tokio::runtime::Handle;

/// Runs handlers that leave their connection's task on the runtime that the server was made in.
#[derive(Clone, Debug)]
pub struct TokioExecutor(Handle);

impl TokioExecutor {
    /// On the current runtime.
    ///
    /// # Panics
    /// Outside of one.
    #[track_caller]
    pub fn current() -> Self {
        Self(Handle::current())
    }
}

impl Executor for TokioExecutor {
    fn spawn(&self, task: BoxFuture<()>) {
        self.0.spawn(task);
    }

    fn spawn_blocking(&self, task: BoxFuture<()>) {
        let handle = self.0.clone();
        self.0.spawn_blocking(move || handle.block_on(task));
    }
}
