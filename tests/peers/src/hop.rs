//! Our side of `hop.thrift` and `hop.proto`: the service, and calls that are the same in both.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rpc::{
    Bytes, CallOptions, Client, Codec, Context, DecodeOutcome, Encode, Error, Name, Never, RequestHead,
    Scope, Status, Transport, Value,
};

use crate::idl::echo::{Echo, EchoEchoError, EchoRequest, EchoResponse};
use crate::idl::hop::{Ask, Hop, HopClient, Seen, hop_methods};
use crate::idl::hop_pb;
use crate::service::Echoing;

/// How our server calls itself in answers of Protobuf.
pub const NAME: &str = "rpc";

/// Tells what it sees of calls, and all that [`Echoing`] does.
#[derive(Debug, Default)]
pub struct Hopping {
    echoing: Echoing,
    given_up: AtomicI32,
}

impl Hopping {
    async fn look(&self, context: &Context, ask: Ask) -> Result<Seen, Status> {
        context.reply_metadata("back", format!("for {}", ask.text));
        if ask.business != 0 {
            let status = Status::business(ask.business, format!("no: {}", ask.text));
            return Err(status.with_details(Bytes::from_static(br#"{"why":"asked"}"#)));
        }
        let left = context.remaining();
        if let Some(millis) = u64::try_from(ask.sleep_ms).ok().filter(|millis| *millis > 0) {
            let count = CountIfDropped(&self.given_up);
            tokio::time::sleep(Duration::from_millis(millis)).await;
            std::mem::forget(count);
        }
        let of = |wanted| {
            let pairs = context.metadata().iter().filter(move |(_, _, scope)| *scope == wanted);
            pairs.map(|(key, value, _)| (key.to_string(), text(value))).collect()
        };
        Ok(Seen {
            transient: of(Scope::Transient),
            persistent: of(Scope::Persistent),
            left_ms: left.map_or(0, |left| i64::try_from(left.as_millis()).expect("a deadline")),
            given_up: self.given_up.load(Ordering::SeqCst),
            text: ask.text,
        })
    }
}

struct CountIfDropped<'a>(&'a AtomicI32);

impl Drop for CountIfDropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A value of metadata as text.
///
/// # Panics
/// When it is none.
pub fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.to_string(),
        Value::Binary(bytes) => panic!("{bytes:?} in the place of text"),
    }
}

impl Echo for Hopping {
    async fn echo(&self, context: &Context, request: EchoRequest) -> Result<EchoResponse, EchoEchoError> {
        self.echoing.echo(context, request).await
    }

    async fn ping(&self, context: &Context, note: String) -> Result<(), Status> {
        self.echoing.ping(context, note).await
    }
}

impl Hop for Hopping {
    async fn look(&self, context: &Context, ask: Ask) -> Result<Seen, Status> {
        self.look(context, ask).await
    }
}

impl hop_pb::Hop for Hopping {
    async fn echo(&self, _: &Context, request: hop_pb::EchoRequest) -> Result<hop_pb::EchoResponse, Status> {
        Ok(hop_pb::EchoResponse { request: Some(request), server: NAME.into() })
    }

    async fn look(&self, context: &Context, ask: hop_pb::Ask) -> Result<hop_pb::Seen, Status> {
        let hop_pb::Ask { sleep_ms, business, text } = ask;
        let seen = self.look(context, Ask { sleep_ms, business, text }).await?;
        let Seen { transient, persistent, left_ms, given_up, text } = seen;
        Ok(hop_pb::Seen { transient, persistent, left_ms, given_up, text })
    }
}

/// A client of either schema, for what is the same in both.
pub trait Looks: Clone + Send + Sync + 'static {
    /// Calls the method that tells what it saw.
    fn look(
        &self,
        options: CallOptions,
        ask: Ask,
    ) -> impl Future<Output = Result<Seen, Error>> + Send + 'static;

    /// Calls a method by names that may be wrong.
    fn named(
        &self,
        service: &'static str,
        method: &'static str,
    ) -> impl Future<Output = Result<(), Status>> + Send;

    /// What it is called in this schema.
    const LOOK: &'static str;
}

impl<C, S> Looks for HopClient<C, S>
where
    C: Codec + Encode<hop_methods::LookArgs> + DecodeOutcome<Seen, Never>,
    S: Transport,
{
    const LOOK: &'static str = "look";

    fn look(
        &self,
        options: CallOptions,
        ask: Ask,
    ) -> impl Future<Output = Result<Seen, Error>> + Send + 'static {
        self.with(options).look(ask)
    }

    async fn named(&self, service: &'static str, method: &'static str) -> Result<(), Status> {
        // Field 1, a struct without fields.
        call_by_name(self.client(), service, method, Bytes::from_static(&[12, 0, 1, 0, 0])).await
    }
}

impl<C, S> Looks for hop_pb::HopClient<C, S>
where
    C: Codec + Encode<hop_pb::Ask> + DecodeOutcome<hop_pb::Seen, Never>,
    S: Transport,
{
    const LOOK: &'static str = "Look";

    fn look(
        &self,
        options: CallOptions,
        ask: Ask,
    ) -> impl Future<Output = Result<Seen, Error>> + Send + 'static {
        let Ask { sleep_ms, business, text } = ask;
        let answer = self.with(options).look(hop_pb::Ask { sleep_ms, business, text });
        async {
            let hop_pb::Seen { transient, persistent, left_ms, given_up, text } = answer.await?;
            Ok(Seen { transient, persistent, left_ms, given_up, text })
        }
    }

    async fn named(&self, service: &'static str, method: &'static str) -> Result<(), Status> {
        call_by_name(self.client(), service, method, Bytes::new()).await
    }
}

async fn call_by_name<C: Codec, S: Transport>(
    client: &Client<C, S>,
    service: &'static str,
    method: &'static str,
    body: Bytes,
) -> Result<(), Status> {
    let head = RequestHead {
        service: Name::from_static(service),
        method: Name::from_static(method),
        ..RequestHead::default()
    };
    client.call_raw(head, body).await.expect("an answer").head.status
}

/// Requests of `hop.proto` that hold every type of it, with names for reports.
pub fn protobuf_requests() -> Vec<(&'static str, hop_pb::EchoRequest)> {
    use hop_pb::echo_request::Choice;
    use hop_pb::{Color, EchoRequest, Inner, Longs};

    let inner = Inner { id: -1, label: Some("in".into()), weight: 1 << 40 };
    let full = EchoRequest {
        flag: true,
        small: i16::MIN.into(),
        medium: i32::MIN,
        large: i64::MIN,
        real: -0.1,
        text: "héllo 世界 🦀".into(),
        blob: Bytes::from_iter(0..=255),
        words: vec!["a".into(), String::new(), "c".repeat(300)],
        ids: vec![1, -2, 3],
        counts: HashMap::from([("x".into(), 1), ("y".into(), -1), ("ü".into(), i32::MAX)]),
        inners: HashMap::from([(1, inner.clone()), (-7, Inner { id: 2, ..Inner::default() })]),
        color: Color::Blue.into(),
        inner: Some(inner.clone()),
        choice: Some(Choice::Other(inner)),
        maybe: Some(String::new()),
        inner_list: (0..20).map(|id| Inner { id, ..Inner::default() }).collect(),
        flags: vec![true, false, true],
        nested: HashMap::from([("k".into(), Longs { values: vec![1, -1, 1 << 62] })]),
        reals: vec![0.0, 1.5, -1e308, 5e-324],
        empty_map: HashMap::new(),
        half: 0.1,
        natural: u64::MAX,
        zigzag: i64::MIN,
        four: u32::MAX,
        eight: i64::MIN,
        far: Some(false),
    };
    let large = EchoRequest { blob: vec![0xab; 1_000_000].into(), ..EchoRequest::default() };
    let maxima = EchoRequest {
        small: i32::MAX,
        medium: i32::MAX,
        large: i64::MAX,
        real: f64::MAX,
        half: f32::MAX,
        zigzag: i64::MAX,
        eight: i64::MAX,
        ..EchoRequest::default()
    };
    let chosen = |choice| EchoRequest { choice: Some(choice), ..EchoRequest::default() };
    vec![
        ("full", full),
        ("empty", EchoRequest::default()),
        ("large", large),
        ("maxima", maxima),
        ("oneof-int", chosen(Choice::Number(-1))),
        ("oneof-empty", chosen(Choice::Longs(Longs::default()))),
    ]
}
