//! The load generator: a closed loop of virtual clients, generic over how they call.
//!
//! Each client sends, waits, verifies and sends again. It costs two clock readings, one compare of the body and a
//! few unshared memory writes a call; `bench calibrate` prints what that comes to.
//!
//! - [`client`]: the loop of one client.
//! - [`deadline`]: giving up calls that take too long, without a timer per call.
//! - [`recorder`]: where latencies go.
//! - [`round`]: warm-up, window and drain of all clients together.

pub mod client;
pub mod deadline;
pub mod recorder;
pub mod round;
