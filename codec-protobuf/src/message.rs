use bytes::Bytes;

/// A type that is a Protobuf message. prost writes the bytes; this only says that the type is one, so that the compiler
/// can tell messages from the outcome of a method (`Result<Response, Never>`), which is one trait's matter on both sides.
///
/// Generated code implements it for each message. For types that prost's derive made elsewhere, list them once with
/// [`messages!`](crate::messages). It is implemented for Google's wrappers and `Empty`, which prost maps to plain types;
/// with the feature `prost-types` for the other well-known types too.
///
/// A type of a foreign crate can not be marked by the rules of the language: put it into a message of your own, or wrap
/// it in a type that hands prost's methods on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not marked as a Protobuf message",
    note = "list it once, where it is defined: `codec_protobuf::messages!({Self});`"
)]
pub trait ProtoMessage: prost::Message + Default {}

/// Marks types as Protobuf messages: `codec_protobuf::messages!(EchoRequest, EchoResponse);`.
///
/// ```
/// #[derive(Clone, PartialEq, prost::Message)]
/// struct Echo {
///     #[prost(string, tag = "1")]
///     text: String,
/// }
/// codec_protobuf::messages!(Echo);
/// ```
#[macro_export]
macro_rules! messages {
    ($($message:ty),* $(,)?) => {
        $(impl $crate::ProtoMessage for $message {})*
    };
}

messages!((), bool, i32, i64, u32, u64, f32, f64, String, Vec<u8>, Bytes);

#[cfg(feature = "prost-types")]
messages!(
    prost_types::Any,
    prost_types::Api,
    prost_types::Duration,
    prost_types::FieldMask,
    prost_types::ListValue,
    prost_types::Struct,
    prost_types::Timestamp,
    prost_types::Value,
);

impl<M: ProtoMessage> ProtoMessage for Box<M> {}
