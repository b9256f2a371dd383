//! Ctrl-C: once to stop after saving, twice to stop at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::exit::INTERRUPTED;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether the user asked for an end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Listens from now on. Children end with this process (their kernel sees to it), so a second Ctrl-C may simply
/// exit.
///
/// # Errors
///
/// If signals can not be listened for.
pub fn listen() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    thread::Builder::new().name("interrupt".into()).spawn(move || {
        runtime.block_on(async {
            while tokio::signal::ctrl_c().await.is_ok() {
                if REQUESTED.swap(true, Ordering::Relaxed) {
                    std::process::exit(i32::from(INTERRUPTED));
                }
                eprintln!("interrupted: saving what is complete (again to exit at once)");
            }
        });
    })?;
    Ok(())
}
