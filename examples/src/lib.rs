//! What the examples share: the generated code, and one implementation of `Greeter`.

use rpc::{Context, Status};

#[allow(missing_docs, reason = "generated")]
pub mod idl {
    rpc::include_idl!("hello");
}

use idl::hello::{Greeter, GreeterFindError, HelloReply, HelloRequest, Unknown};

/// Greets everyone.
#[derive(Debug)]
pub struct Friendly;

impl Greeter for Friendly {
    async fn say_hello(&self, _: &Context, request: HelloRequest) -> Result<HelloReply, Status> {
        Ok(HelloReply { message: format!("Hello, {}!", request.name) })
    }

    async fn find(&self, _: &Context, name: String) -> Result<HelloReply, GreeterFindError> {
        match name.as_str() {
            "Ada" | "Grace" => Ok(HelloReply { message: format!("{name} is here.") }),
            "" => Err(Status::invalid_argument("a name must not be empty").into()),
            _ => Err(Unknown { name }.into()),
        }
    }
}
