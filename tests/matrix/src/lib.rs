//! Transports, framings and suites, crossed
