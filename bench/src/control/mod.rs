//! How the driver talks to the processes it starts: one JSON object a line over TCP, apart from the data.

pub mod link;
pub mod messages;
