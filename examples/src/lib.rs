//! Small programs to copy
