use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rpc_core::{
    Codec, Context, Decode, DecodeOutcome, Encode, EncodeOutcome, MethodTable, NamedService, Never, Outcome,
    Status,
};
use tokio::sync::Semaphore;

use crate::{Answer, Text};

/// The methods of the probe service.
pub mod method {
    use rpc_core::{Method, Never, Place, Shape};

    use crate::{Answer, Text};

    macro_rules! methods {
        ($($(#[$doc:meta])* $name:ident = $wire:literal, $shape:ident -> $response:ty;)+) => {$(
            $(#[$doc])*
            #[derive(Debug)]
            pub enum $name {}

            impl Method for $name {
                const SERVICE: &'static str = "probe.Probe";
                const NAME: &'static str = $wire;
                const SHAPE: Shape = Shape::$shape;
                const REQUEST: Place = Place::Arguments;
                type Request = Text;
                type Response = $response;
                type Exception = Never;
            }
        )+};
    }
    methods! {
        /// Returns the text.
        Echo = "echo", Unary -> Answer;
        /// Returns the text once the probe is released.
        Hold = "hold", Unary -> Answer;
        /// Panics.
        Panic = "panic", Unary -> Answer;
        /// Is counted, and returns nothing.
        Fire = "fire", Oneway -> ();
        /// Returns so many bytes.
        Big = "big", Unary -> Answer;
        /// Returns what can not be encoded.
        Unencodable = "unencodable", Unary -> Answer;
        /// Returns the text after it was polled so many times.
        Slow = "slow", Unary -> Answer;
        /// Nobody serves it.
        Unknown = "nope", Unary -> Answer;
    }
}

/// A codec that can carry the probe service, on both sides.
pub trait Carries:
    Codec
    + Encode<Text>
    + Decode<Text>
    + EncodeOutcome<Answer, Never>
    + DecodeOutcome<Answer, Never>
    + EncodeOutcome<(), Never>
    + DecodeOutcome<(), Never>
{
}

impl<C> Carries for C where
    C: Codec
        + Encode<Text>
        + Decode<Text>
        + EncodeOutcome<Answer, Never>
        + DecodeOutcome<Answer, Never>
        + EncodeOutcome<(), Never>
        + DecodeOutcome<(), Never>
{
}

/// A service that does all that can go wrong, and counts. Clones are the same service.
#[derive(Clone, Debug, Default)]
pub struct Probe(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    echoed: AtomicUsize,
    fired: AtomicUsize,
    big: AtomicUsize,
    /// Handlers of `hold` that began.
    began: AtomicUsize,
    /// Those that ended, by themselves or by being dropped.
    ended: AtomicUsize,
    /// Those of them that returned.
    returned: AtomicUsize,
    permits: Semaphore,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            echoed: AtomicUsize::new(0),
            fired: AtomicUsize::new(0),
            big: AtomicUsize::new(0),
            began: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            returned: AtomicUsize::new(0),
            permits: Semaphore::new(0),
        }
    }
}

impl Probe {
    /// Nothing counted yet, and every `hold` waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets so many calls of `hold` return.
    pub fn release(&self, calls: usize) {
        self.0.permits.add_permits(calls);
    }

    /// Takes back what [`release`](Self::release) allowed and no call used.
    pub fn take_back(&self) {
        self.0.permits.forget_permits(Semaphore::MAX_PERMITS);
    }

    /// Lets all calls of `hold` return, also those to come.
    pub fn release_all(&self) {
        self.0.permits.close();
    }

    /// How many calls of `echo` ran.
    pub fn echoed(&self) -> usize {
        self.0.echoed.load(Ordering::SeqCst)
    }

    /// How many calls of `fire` ran.
    pub fn fired(&self) -> usize {
        self.0.fired.load(Ordering::SeqCst)
    }

    /// How many calls of `big` ran.
    pub fn big(&self) -> usize {
        self.0.big.load(Ordering::SeqCst)
    }

    /// How many calls of `hold` began.
    pub fn began(&self) -> usize {
        self.0.began.load(Ordering::SeqCst)
    }

    /// How many calls of `hold` run.
    pub fn holding(&self) -> usize {
        self.began() - self.0.ended.load(Ordering::SeqCst)
    }

    /// How many calls of `hold` were dropped before they returned.
    pub fn dropped(&self) -> usize {
        self.0.ended.load(Ordering::SeqCst) - self.0.returned.load(Ordering::SeqCst)
    }
}

/// Counts a handler's end however it comes.
struct Running<'a>(&'a Counts);

impl<'a> Running<'a> {
    fn begin(counts: &'a Counts) -> Self {
        counts.began.fetch_add(1, Ordering::SeqCst);
        Self(counts)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl<C: Carries> NamedService<C> for Probe {
    const NAME: &'static str = "probe.Probe";

    fn register(&self, table: &mut MethodTable<C>) {
        add::<C, method::Echo, _, _>(table, self, |probe, request| async move {
            probe.0.echoed.fetch_add(1, Ordering::SeqCst);
            Ok(Ok(request.into()))
        });
        add::<C, method::Hold, _, _>(table, self, |probe, request| async move {
            let running = Running::begin(&probe.0);
            if let Ok(permit) = probe.0.permits.acquire().await {
                permit.forget();
            }
            running.0.returned.fetch_add(1, Ordering::SeqCst);
            Ok(Ok(request.into()))
        });
        add::<C, method::Panic, _, _>(table, self, |_, request| async move {
            panic!("as it was told to: {}", request.text)
        });
        add::<C, method::Fire, _, _>(table, self, |probe, _| async move {
            probe.0.fired.fetch_add(1, Ordering::SeqCst);
            Ok(Ok(()))
        });
        add::<C, method::Big, _, _>(table, self, |probe, request| async move {
            probe.0.big.fetch_add(1, Ordering::SeqCst);
            Ok(Ok(Answer::new("x".repeat(number(&request)?))))
        });
        add::<C, method::Unencodable, _, _>(table, self, |_, _| async move { Ok(Ok(Answer::unencodable())) });
        add::<C, method::Slow, _, _>(table, self, |_, request| async move {
            for _ in 0..number(&request)? {
                tokio::task::yield_now().await;
            }
            Ok(Ok(request.into()))
        });
    }
}

fn number(request: &Text) -> Result<usize, Status> {
    request.text.parse().map_err(|_| Status::invalid_argument("the text is no number"))
}

fn add<C, M, F, R>(table: &mut MethodTable<C>, probe: &Probe, handler: F)
where
    C: Carries + EncodeOutcome<M::Response, M::Exception>,
    M: rpc_core::Method<Request = Text>,
    F: Fn(Probe, Text) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Outcome<M>, Status>> + Send + 'static,
{
    let probe = probe.clone();
    table.unary::<M, _, _>(move |context: Context, request| {
        let outcome = handler(probe.clone(), request);
        async move { context.finish::<M>(outcome.await) }
    });
}
