/// The first line of what is generated from `.thrift` files: says what is missing, where that would be hard to see from what
/// follows.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "thrift")]
macro_rules! needs_thrift {
    () => {};
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "thrift"))]
macro_rules! needs_thrift {
    () => {
        ::core::compile_error!(
            "code from `.thrift` files needs the feature `thrift` of `rpc`, whatever codec carries it: rpc = { features = [\"thrift\", …] }"
        );
    };
}

/// The same for `.proto` files.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "protobuf")]
macro_rules! needs_protobuf {
    () => {};
}

#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "protobuf"))]
macro_rules! needs_protobuf {
    () => {
        ::core::compile_error!(
            "code from `.proto` files needs the feature `protobuf` of `rpc`, whatever codec carries it: rpc = { features = [\"protobuf\", …] }"
        );
    };
}

/// Brings in what `rpc_build::compile` generated in the build script.
///
/// `include_idl!("hello")` is for one schema, `hello.thrift` or `hello.proto`; where there are both,
/// `include_idl!("hello.thrift")` says which. It brings what the schema declares, and
/// modules with the names of its namespaces, so that `hello::Greeter` and `Greeter` are both there if the namespace is
/// `hello`. What the schema includes is in modules of its own beside.
///
/// `include_idl!()` is for all schemas that were compiled together: it brings the modules of their namespaces alone.
/// Schemas that share types have to be brought in by this form, or the shared types would be other types in each.
///
/// ```text
/// mod idl {
///     rpc::include_idl!("hello");
/// }
/// use idl::{Greeter, GreeterClient, GreeterServer};
/// ```
#[macro_export]
macro_rules! include_idl {
    () => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/rpc_idl.rs"));
    };
    ($schema:literal) => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $schema, ".rs"));
    };
}
