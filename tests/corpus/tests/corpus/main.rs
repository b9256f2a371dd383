//! One program for all tests, since each links all that was generated.

mod apache;
mod invalid;
mod valid;
