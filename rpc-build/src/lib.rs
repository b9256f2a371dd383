//! Code generation from .thrift and .proto files
