//! A protocol with streams, made up for this test: it shows that the traits fit streams, and that the drivers of unary calls drive
//! it as it is.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use codec_thrift::Binary;
use rpc_core::{Code, Name, RequestHead, ResponseHead, Shape, Status};
use rpc_test::transport::{self, Kind};
use rpc_test::{Net, run};
use rpc_wire::{
    CallError, CallId, ConnectionError, ConnectionErrorKind, Detect, Event, Limits, MakeProtocol, More,
    OpenError, Protocol, Reason, WriteBuf,
};
use tests_matrix::MuxKind;

/// `length:u32 kind:u8 id:u32 body`. The ids are the client's.
#[derive(Clone, Copy, Debug)]
struct Streams;

const LENGTH: usize = 4;
const HEADER: usize = 5;
/// What may be sent on a stream before the other side has taken some of it, in bytes.
const WINDOW: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Frame {
    /// A name behind its length, then the payload. With or without a stream behind it; or without an answer.
    Call = 1,
    CallStreaming,
    Oneway,
    /// An empty status, or a code and a text; then the payload.
    Answer,
    AnswerStreaming,
    Message,
    Finish,
    Reset,
    /// So many bytes were taken.
    Taken,
    GoAway,
}

impl Frame {
    const ALL: [Self; 10] = [
        Self::Call,
        Self::CallStreaming,
        Self::Oneway,
        Self::Answer,
        Self::AnswerStreaming,
        Self::Message,
        Self::Finish,
        Self::Reset,
        Self::Taken,
        Self::GoAway,
    ];
}

/// One side of one connection.
struct Connection {
    client: bool,
    limits: Limits,
    next: u32,
    calls: HashMap<CallId, Call>,
    events: VecDeque<Event>,
    out: WriteBuf,
    going_away: bool,
}

/// A call as one side sees it.
#[derive(Debug)]
struct Call {
    sends: Half,
    receives: Half,
    window: usize,
    deadline: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    /// Nothing was said yet.
    Idle,
    /// Messages go this way.
    Streaming,
    Over,
}

impl Connection {
    fn put(&mut self, frame: Frame, id: CallId, body: &[&[u8]]) {
        let len: usize = body.iter().map(|part| part.len()).sum();
        self.out.put_u32(u32::try_from(HEADER + len).unwrap_or(u32::MAX));
        self.out.put_u8(frame as u8);
        self.out.put_u32(id.0);
        body.iter().for_each(|part| self.out.put_slice(part));
    }

    fn put_head(&mut self, frame: Frame, id: CallId, head: &ResponseHead, body: &[u8]) {
        let mut status = BytesMut::new();
        match &head.status {
            Ok(()) => status.put_u8(0),
            Err(error) => {
                status.put_u8(u8::try_from(error.code().number()).unwrap_or(2));
                status.put_u16(u16::try_from(error.message().len()).unwrap_or(0));
                status.put_slice(error.message().as_bytes());
            }
        }
        self.put(frame, id, &[&status, body]);
    }

    /// Forgets a call that is over both ways.
    fn settle(&mut self, id: CallId) {
        if self.calls.get(&id).is_some_and(|call| call.sends == Half::Over && call.receives == Half::Over) {
            self.calls.remove(&id);
        }
    }

    fn handle_frame(&mut self, frame: Frame, id: CallId, mut body: Bytes) -> Option<()> {
        match frame {
            Frame::Call | Frame::CallStreaming | Frame::Oneway => {
                let len = usize::from(body.try_get_u8().ok()?);
                let method = Name::from_bytes((body.len() >= len).then(|| body.split_to(len))?);
                let streaming = frame == Frame::CallStreaming;
                let receives = if streaming { Half::Streaming } else { Half::Over };
                self.calls.insert(id, Call { sends: Half::Idle, receives, window: WINDOW, deadline: None });
                let shape = if frame == Frame::Oneway { Shape::Oneway } else { Shape::Unary };
                let more = if streaming { More::Streaming } else { More::Done };
                let head = RequestHead { method, shape, ..RequestHead::default() };
                self.events.push_back(Event::Request { id, head, body, more });
            }
            Frame::Answer | Frame::AnswerStreaming => {
                let head = read_head(&mut body)?;
                let streaming = frame == Frame::AnswerStreaming;
                // An answer to a call that was given up is nobody's.
                let Some(call) = self.calls.get_mut(&id) else { return Some(()) };
                call.receives = if streaming { Half::Streaming } else { Half::Over };
                if !streaming {
                    call.sends = Half::Over; // the peer listens no more
                }
                let more = if streaming { More::Streaming } else { More::Done };
                self.events.push_back(Event::Response { id, head, body, more });
                self.settle(id);
            }
            Frame::Message => {
                let call = self.calls.get(&id).filter(|call| call.receives == Half::Streaming);
                if call.is_some() {
                    self.events.push_back(Event::Message { id, body });
                }
            }
            Frame::Finish => {
                let trailers = read_head(&mut body)?;
                let Some(call) = self.calls.get_mut(&id) else { return Some(()) };
                call.receives = Half::Over;
                if self.client {
                    call.sends = Half::Over;
                }
                self.events.push_back(Event::Finished { id, trailers });
                self.settle(id);
            }
            Frame::Reset => {
                if self.calls.remove(&id).is_some() {
                    self.events.push_back(Event::Reset { id, reason: Reason::Cancel });
                }
            }
            Frame::Taken => {
                let count = usize::try_from(body.try_get_u32().ok()?).ok()?;
                if let Some(call) = self.calls.get_mut(&id) {
                    call.window += count;
                }
            }
            Frame::GoAway => {
                self.going_away = true;
                self.events.push_back(Event::GoAway);
            }
        }
        Some(())
    }
}

fn read_head(body: &mut Bytes) -> Option<ResponseHead> {
    let code = body.try_get_u8().ok()?;
    if code == 0 {
        return Some(ResponseHead::ok());
    }
    let len = usize::from(body.try_get_u16().ok()?);
    let text = (body.len() >= len).then(|| body.split_to(len))?;
    let code = Code::from_number(code.into()).unwrap_or(Code::Unknown);
    Some(ResponseHead::failed(Status::new(code, String::from_utf8_lossy(&text).into_owned())))
}

impl Protocol for Connection {
    fn handle_input(&mut self, _: Instant, src: &mut BytesMut) -> Result<(), ConnectionError> {
        let malformed = || ConnectionError::new(ConnectionErrorKind::Malformed, "not a frame of streams");
        while self.client || self.capacity() > 0 {
            let Some(prefix) = src.first_chunk::<LENGTH>() else { return Ok(()) };
            let len = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
            if len > self.limits.max_message || len < HEADER {
                return Err(ConnectionError::new(ConnectionErrorKind::TooLarge, "frame too large"));
            }
            if src.len() - LENGTH < len {
                return Ok(());
            }
            let mut frame = src.split_to(LENGTH + len).freeze();
            frame.advance(LENGTH);
            let (kind, id) = (frame.get_u8(), CallId(frame.get_u32()));
            let kind = Frame::ALL.into_iter().find(|known| *known as u8 == kind).ok_or_else(malformed)?;
            self.handle_frame(kind, id, frame).ok_or_else(malformed)?;
        }
        Ok(())
    }

    fn handle_eof(&mut self, unread: &[u8]) -> Result<(), ConnectionError> {
        self.going_away = true;
        if unread.is_empty() {
            return Ok(());
        }
        Err(ConnectionError::new(ConnectionErrorKind::Truncated, "the peer closed inside a frame"))
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), ConnectionError> {
        let late = |call: &Call| call.deadline.is_some_and(|deadline| deadline <= now);
        let late: Vec<_> = self.calls.iter().filter(|(_, call)| late(call)).map(|(id, _)| *id).collect();
        for id in late {
            self.reset(id, Reason::Deadline);
            self.events.push_back(Event::Reset { id, reason: Reason::Deadline });
        }
        Ok(())
    }

    fn open(&mut self, head: &RequestHead, body: &Bytes, more: More) -> Result<CallId, OpenError> {
        let size = HEADER + 1 + head.method.len() + body.len();
        if self.going_away {
            return Err(OpenError::GoingAway);
        } else if self.capacity() == 0 {
            return Err(OpenError::Full);
        } else if size > self.limits.max_message {
            return Err(OpenError::TooLarge { size, limit: self.limits.max_message });
        }
        let len =
            u8::try_from(head.method.len()).map_err(|_| OpenError::Unsupported("a long name".into()))?;
        let id = CallId(self.next);
        self.next += 1;
        let (frame, sends) = match more {
            More::Streaming => (Frame::CallStreaming, Half::Streaming),
            More::Done if head.wants_answer() => (Frame::Call, Half::Over),
            More::Done => (Frame::Oneway, Half::Over),
        };
        self.put(frame, id, &[&[len], head.method.as_bytes(), body]);
        if head.wants_answer() {
            let call = Call { sends, receives: Half::Idle, window: WINDOW, deadline: head.deadline };
            self.calls.insert(id, call);
        }
        Ok(id)
    }

    fn reply(&mut self, id: CallId, head: &ResponseHead, body: &Bytes, more: More) -> Result<(), CallError> {
        let call =
            self.calls.get_mut(&id).filter(|call| call.sends == Half::Idle).ok_or(CallError::Unknown)?;
        let (size, limit) = (HEADER + 1 + body.len(), self.limits.max_message);
        if size > limit {
            return Err(CallError::TooLarge { size, limit });
        }
        let frame = match more {
            More::Streaming => {
                call.sends = Half::Streaming;
                Frame::AnswerStreaming
            }
            More::Done => {
                self.calls.remove(&id);
                Frame::Answer
            }
        };
        self.put_head(frame, id, head, body);
        Ok(())
    }

    fn send(&mut self, id: CallId, message: &Bytes) -> Result<(), CallError> {
        let call =
            self.calls.get_mut(&id).filter(|call| call.sends == Half::Streaming).ok_or(CallError::Unknown)?;
        let (size, limit) = (message.len(), call.window);
        call.window = limit.checked_sub(size).ok_or(CallError::TooLarge { size, limit })?;
        self.put(Frame::Message, id, &[message]);
        Ok(())
    }

    fn finish(&mut self, id: CallId, trailers: &ResponseHead) -> Result<(), CallError> {
        let call =
            self.calls.get_mut(&id).filter(|call| call.sends == Half::Streaming).ok_or(CallError::Unknown)?;
        call.sends = Half::Over;
        if !self.client {
            self.calls.remove(&id);
        }
        self.put_head(Frame::Finish, id, trailers, &[]);
        Ok(())
    }

    fn window(&self, id: CallId) -> usize {
        self.calls.get(&id).filter(|call| call.sends == Half::Streaming).map_or(0, |call| call.window)
    }

    fn reset(&mut self, id: CallId, _: Reason) {
        if self.calls.remove(&id).is_some() {
            self.put(Frame::Reset, id, &[]);
        }
    }

    fn go_away(&mut self) {
        self.going_away = true;
        self.put(Frame::GoAway, CallId(0), &[]);
    }

    fn capacity(&self) -> usize {
        self.limits.max_in_flight.saturating_sub(self.calls.len())
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if let Event::Message { id, body } = &event {
            let taken = u32::try_from(body.len()).unwrap_or(u32::MAX);
            self.put(Frame::Taken, *id, &[&taken.to_be_bytes()]);
        }
        if let Event::Request { id, head, .. } = &event
            && self.going_away
            && head.wants_answer()
        {
            self.reset(*id, Reason::Refused);
            return self.poll_event();
        }
        Some(event)
    }

    fn poll_output(&mut self, dst: &mut WriteBuf) -> bool {
        let any = !self.out.is_empty();
        self.out.move_into(dst);
        any
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.calls.values().filter_map(|call| call.deadline).min()
    }

    fn in_flight(&self) -> usize {
        self.calls.len()
    }

    fn unsent(&self) -> usize {
        self.out.len()
    }

    fn is_clean(&self, unread: &[u8]) -> bool {
        unread.is_empty()
            && self.calls.is_empty()
            && self.events.is_empty()
            && self.out.is_empty()
            && !self.going_away
    }
}

impl MakeProtocol for Streams {
    type Protocol = Connection;
    type Codecs = (Binary,);

    fn name(&self) -> &'static str {
        "streams"
    }

    fn client(&self, limits: &Limits, first_id: CallId) -> Connection {
        connection(true, limits, first_id)
    }

    fn server(&self, limits: &Limits) -> Connection {
        connection(false, limits, CallId(0))
    }

    fn detect(&self, _: &[u8]) -> Detect {
        Detect::Yes
    }

    fn codecs(&self) -> (Binary,) {
        (Binary,)
    }

    fn multiplexes(&self) -> bool {
        true
    }
}

fn connection(client: bool, limits: &Limits, first_id: CallId) -> Connection {
    let next = first_id.0.max(1);
    let (calls, events, out) = (HashMap::new(), VecDeque::new(), WriteBuf::new());
    Connection { client, limits: limits.clone(), next, calls, events, out, going_away: false }
}

/// Both sides, as any driver sees them.
struct Pair {
    client: Box<dyn Protocol>,
    server: Box<dyn Protocol>,
    piece: usize,
}

impl Pair {
    /// Bytes travel in pieces of this size.
    fn new(piece: usize) -> Self {
        let limits = Limits::default();
        Self {
            client: Box::new(Streams.client(&limits, CallId(1))),
            server: Box::new(Streams.server(&limits)),
            piece,
        }
    }

    fn reach_server(&mut self) -> Vec<Event> {
        carry(&mut *self.client, &mut *self.server, self.piece)
    }

    fn reach_client(&mut self) -> Vec<Event> {
        carry(&mut *self.server, &mut *self.client, self.piece)
    }

    fn open(&mut self, more: More) -> CallId {
        let head = RequestHead { method: Name::from_static("talk"), ..RequestHead::default() };
        self.client.open(&head, &bytes("open"), more).unwrap()
    }

    fn is_at_rest(&self) {
        assert_eq!((self.client.in_flight(), self.server.in_flight()), (0, 0));
    }
}

/// Takes what one side has to write to the other, and what comes out there.
fn carry(from: &mut dyn Protocol, to: &mut dyn Protocol, piece: usize) -> Vec<Event> {
    let (mut out, mut read, mut events) = (WriteBuf::new(), BytesMut::new(), Vec::new());
    from.poll_output(&mut out);
    while out.has_remaining() {
        let piece = out.copy_to_bytes(piece.min(out.remaining()));
        read.extend_from_slice(&piece);
        to.handle_input(Instant::now(), &mut read).unwrap();
        events.extend(std::iter::from_fn(|| to.poll_event()));
    }
    assert!(read.is_empty());
    events
}

fn bytes(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

fn texts(events: &[Event]) -> Vec<String> {
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let line = |event: &Event| match event {
        Event::Request { body, more, .. } => format!("request {} {more:?}", text(body)),
        Event::Response { body, more, head, .. } => {
            format!("response {} {more:?} {}", text(body), head.status.is_ok())
        }
        Event::Message { body, .. } => format!("message {}", text(body)),
        Event::Finished { trailers, .. } => format!("finished {}", trailers.status.is_ok()),
        Event::Reset { reason, .. } => format!("reset {reason:?}"),
        other => format!("{other:?}"),
    };
    events.iter().map(line).collect()
}

#[test]
fn a_server_streams_its_answer() {
    for piece in [1, 2, 3, 7, 1000] {
        let mut pair = Pair::new(piece);
        let id = pair.open(More::Done);
        assert_eq!(texts(&pair.reach_server()), ["request open Done"]);
        pair.server.reply(id, &ResponseHead::ok(), &bytes("first"), More::Streaming).unwrap();
        pair.server.send(id, &bytes("second")).unwrap();
        pair.server.send(id, &bytes("third")).unwrap();
        pair.server.finish(id, &ResponseHead::ok()).unwrap();
        let events = texts(&pair.reach_client());
        assert_eq!(
            events,
            ["response first Streaming true", "message second", "message third", "finished true"]
        );
        assert_eq!(pair.server.send(id, &bytes("after the end")), Err(CallError::Unknown));
        pair.reach_server();
        pair.is_at_rest();
    }
}

#[test]
fn a_client_streams_its_request() {
    let mut pair = Pair::new(5);
    let id = pair.open(More::Streaming);
    pair.client.send(id, &bytes("a")).unwrap();
    pair.client.send(id, &bytes("b")).unwrap();
    pair.client.finish(id, &ResponseHead::ok()).unwrap();
    assert_eq!(
        texts(&pair.reach_server()),
        ["request open Streaming", "message a", "message b", "finished true"]
    );
    pair.server.reply(id, &ResponseHead::ok(), &bytes("both"), More::Done).unwrap();
    assert_eq!(texts(&pair.reach_client()), ["response both Done true"]);
    pair.is_at_rest();
}

#[test]
fn both_stream_and_streams_do_not_mix() {
    let mut pair = Pair::new(4);
    let (one, two) = (pair.open(More::Streaming), pair.open(More::Streaming));
    pair.client.send(two, &bytes("2")).unwrap();
    pair.client.send(one, &bytes("1")).unwrap();
    let ids: Vec<_> = pair
        .reach_server()
        .iter()
        .map(|event| match event {
            Event::Request { id, .. } | Event::Message { id, .. } => *id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, [one, two, two, one]);
    for (id, text) in [(two, "two"), (one, "one")] {
        pair.server.reply(id, &ResponseHead::ok(), &bytes("opened"), More::Streaming).unwrap();
        pair.server.send(id, &bytes(text)).unwrap();
    }
    assert_eq!(pair.reach_client().len(), 4);
    pair.client.send(one, &bytes("more")).unwrap();
    assert_eq!(texts(&pair.reach_server()), ["message more"]);
    for id in [one, two] {
        pair.client.finish(id, &ResponseHead::ok()).unwrap();
    }
    assert_eq!(texts(&pair.reach_server()), ["finished true", "finished true"]);
    pair.server.finish(one, &ResponseHead::ok()).unwrap();
    pair.server.finish(two, &ResponseHead::failed(Status::aborted("no more"))).unwrap();
    assert_eq!(texts(&pair.reach_client()), ["finished true", "finished false"]);
    pair.is_at_rest();
}

#[test]
fn a_window_closes_and_opens_again() {
    let mut pair = Pair::new(100);
    let id = pair.open(More::Streaming);
    assert_eq!(pair.client.window(id), WINDOW);
    pair.client.send(id, &Bytes::from(vec![0; WINDOW - 1])).unwrap();
    assert_eq!(pair.client.window(id), 1);
    assert_eq!(pair.client.send(id, &bytes("ab")), Err(CallError::TooLarge { size: 2, limit: 1 }));
    pair.client.send(id, &bytes("a")).unwrap();
    assert_eq!(pair.client.window(id), 0);
    assert_eq!(pair.reach_server().len(), 3);
    pair.reach_client(); // what was taken
    assert_eq!(pair.client.window(id), WINDOW);
    pair.client.send(id, &bytes("on it goes")).unwrap();
}

#[test]
fn either_side_breaks_a_stream_off() {
    let mut pair = Pair::new(3);
    let (one, two) = (pair.open(More::Streaming), pair.open(More::Streaming));
    pair.reach_server();
    pair.client.reset(one, Reason::Cancel);
    assert_eq!(texts(&pair.reach_server()), ["reset Cancel"]);
    assert_eq!(
        pair.server.reply(one, &ResponseHead::ok(), &bytes("late"), More::Done),
        Err(CallError::Unknown)
    );
    pair.server.reset(two, Reason::Cancel);
    assert_eq!(texts(&pair.reach_client()), ["reset Cancel"]);
    assert_eq!(pair.client.send(two, &bytes("late")), Err(CallError::Unknown));
    pair.is_at_rest();
}

macro_rules! unary_cases {
    ($($case:ident)+) => {
        $(
            #[test]
            fn $case() {
                fn check<K: Kind>() {
                    run(Net::Memory, transport::$case::<K, _>(Net::Memory, Streams));
                    run(Net::Memory, transport::$case::<tests_matrix::PoolKind, _>(Net::Memory, Streams));
                }
                check::<MuxKind>();
            }
        )+
    };
}
unary_cases! {
    echo a_thousand_at_once answers_out_of_order oneway unknown_method every_split_of_the_bytes a_slow_reader
    dropped_at_every_step a_deadline_then_the_next_call a_panic_hurts_one_call a_storm_leaves_nothing_behind
}
