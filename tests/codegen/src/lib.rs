//! What rpc-build generates, compiled and used. The tests are in `tests/`.
//!
//! That it compiles here is a test as well: under strict lints, and without the prelude.
#![deny(
    warnings,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub,
    unsafe_code,
    unused_qualifications,
    unused_results,
    clippy::all,
    clippy::pedantic,
    rust_2018_idioms,
    rust_2024_compatibility
)]

/// All `.thrift` files.
#[no_implicit_prelude]
pub mod thrift {
    /// From `collide.thrift`.
    pub mod collide {
        ::rpc::include_idl!("collide");
    }
    /// From `echo.thrift`.
    pub mod echo {
        ::rpc::include_idl!("echo");
    }
    /// From `extends_a.thrift` alone.
    pub mod extends_a {
        ::rpc::include_idl!("extends_a");
    }
    /// From `extends_c.thrift` and what it includes.
    pub mod extends {
        ::rpc::include_idl!("extends_c");
    }
    /// From `hello.thrift`.
    pub mod hello {
        ::rpc::include_idl!("hello.thrift");
    }
    /// From `keys.thrift`.
    pub mod keys {
        ::rpc::include_idl!("keys");
    }
    /// From `keywords.thrift`.
    pub mod keywords {
        ::rpc::include_idl!("keywords");
    }
    /// From `newer.thrift`.
    pub mod newer {
        ::rpc::include_idl!("newer");
    }
    /// From `older.thrift`.
    pub mod older {
        ::rpc::include_idl!("older");
    }
    /// From `probe.thrift`.
    pub mod probe {
        ::rpc::include_idl!("probe");
    }
    /// From `recursion.thrift`.
    pub mod recursion {
        ::rpc::include_idl!("recursion");
    }
    /// From `shadow.thrift`.
    pub mod shadow {
        ::rpc::include_idl!("shadow");
    }
    /// From `values.thrift`.
    pub mod values {
        ::rpc::include_idl!("values");
    }
}

/// Schemas whose types keep the fields that they do not know.
#[no_implicit_prelude]
pub mod kept {
    ::rpc::include_idl!("kept/rpc_idl");
}

/// All `.proto` files.
#[no_implicit_prelude]
pub mod proto {
    /// From `hello.proto`.
    pub mod hello {
        ::rpc::include_idl!("hello.proto");
    }
    /// From `hostile.proto`.
    pub mod hostile {
        ::rpc::include_idl!("hostile");
    }
    /// From `no_package.proto`.
    pub mod no_package {
        ::rpc::include_idl!("no_package");
    }
}

/// All schemas of the build in one tree.
pub mod all {
    rpc::include_idl!();
}
