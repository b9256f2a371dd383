//! Programs of other projects, called and calling
