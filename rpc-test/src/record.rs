use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Keeps all spans and events of the thread on which it is the default.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Log>);

#[derive(Debug, Default)]
struct Log {
    next: AtomicU64,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    spans: HashMap<u64, Span>,
    events: Vec<Recorded>,
}

#[derive(Debug)]
struct Span {
    name: &'static str,
    fields: Vec<(&'static str, String)>,
    references: usize,
}

/// An event: its level, and its message and fields as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// How important it is.
    pub level: Level,
    /// `message field=value …`
    pub text: String,
}

impl Recorder {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the test's own crates said, in order.
    pub fn events(&self) -> Vec<Recorded> {
        self.seen(|seen| seen.events.clone())
    }

    /// For each span of this name the values that its field was given, in order.
    pub fn values(&self, span: &str, field: &str) -> Vec<Vec<String>> {
        let values = |fields: &[(&'static str, String)]| {
            fields.iter().filter(|(name, _)| *name == field).map(|(_, value)| value.clone()).collect()
        };
        self.seen(|seen| seen.spans.values().filter(|s| s.name == span).map(|s| values(&s.fields)).collect())
    }

    /// How many spans of this name are open.
    pub fn open(&self, span: &str) -> usize {
        self.seen(|seen| seen.spans.values().filter(|s| s.name == span && s.references > 0).count())
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.0.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // What tokio and the like say is theirs.
        metadata.target().starts_with("rpc_") || metadata.target().starts_with("transport_")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let span = Span { name: attributes.metadata().name(), fields: fields.0, references: 1 };
        self.seen(|seen| seen.spans.insert(id, span));
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.seen(|seen| {
            if let Some(span) = seen.spans.get_mut(&id.into_u64()) {
                span.fields.append(&mut fields.0);
            }
        });
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        fields.0.sort_by_key(|(name, _)| *name != "message");
        let mut text = String::new();
        for (name, value) in &fields.0 {
            let _ =
                if *name == "message" { write!(text, "{value}") } else { write!(text, " {name}={value}") };
        }
        self.seen(|seen| seen.events.push(Recorded { level: *event.metadata().level(), text }));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn clone_span(&self, id: &Id) -> Id {
        self.seen(|seen| {
            if let Some(span) = seen.spans.get_mut(&id.into_u64()) {
                span.references += 1;
            }
        });
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.seen(|seen| match seen.spans.get_mut(&id.into_u64()) {
            Some(span) => {
                span.references -= 1;
                span.references == 0
            }
            None => false,
        })
    }
}

#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push((field.name(), format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), value.to_owned()));
    }
}
