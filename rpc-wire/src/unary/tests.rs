//! The engine over a framing of a few bytes, driven by hand and with a clock that is a number.

use std::time::Duration;

use bytes::Buf;
use proptest::prelude::*;
use rpc_core::{Codec, Exceptions, Name, Shape};

use super::*;
use crate::{Answer, Detect};

/// One byte of length, then kind, id, deadline in milliseconds after the epoch, and the payload.
#[derive(Clone, Debug)]
struct Toy<const IN_ORDER: bool> {
    epoch: Instant,
}

#[derive(Clone, Debug, Default)]
struct NoCodec;

impl Codec for NoCodec {
    const NAME: &'static str = "none";
    const EXCEPTIONS: Exceptions = Exceptions::InBody;
}

const CALL: u8 = 1;
const REPLY: u8 = 2;
const FAILURE: u8 = 3;
const ONEWAY: u8 = 4;
const GO_AWAY: u8 = 5;
const UNREADABLE: u8 = 6;
const IGNORED: u8 = 7;
const BROKEN: u8 = 8;
/// An answer that says which method it answers: the payload.
const NAMED_REPLY: u8 = 9;

fn frame(kind: u8, id: u32, deadline: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![u8::try_from(6 + body.len()).unwrap(), kind];
    frame.extend_from_slice(&id.to_be_bytes());
    frame.push(deadline);
    frame.extend_from_slice(body);
    frame
}

impl<const IN_ORDER: bool> Framing for Toy<IN_ORDER> {
    type Codecs = (NoCodec,);
    type Mirror = u32;
    const ORDER: Order = if IN_ORDER { Order::InOrder } else { Order::ById };
    const PREFIX: usize = 1;

    fn name(&self) -> &'static str {
        "toy"
    }

    fn encode_request(
        &self,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        dst.put_u8(u8::try_from(6 + body.len()).unwrap_or(u8::MAX));
        dst.put_u8(if head.wants_answer() { CALL } else { ONEWAY });
        dst.put_u32(id);
        dst.put_u8(0);
        dst.put_bytes(body);
        if head.method == "unwritable" { Err(FrameError::Unsupported("no such name".into())) } else { Ok(()) }
    }

    fn encode_response(
        &self,
        to: &u32,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        dst.put_u8(u8::try_from(6 + body.len()).unwrap_or(u8::MAX));
        dst.put_u8(if head.status.is_ok() { REPLY } else { FAILURE });
        dst.put_u32(*to);
        dst.put_u8(
            head.status.as_ref().err().map_or(0, |status| u8::try_from(status.code().number()).unwrap()),
        );
        dst.put_bytes(body);
        if body == "unwritable" { Err(FrameError::Unsupported("no such answer".into())) } else { Ok(()) }
    }

    fn decode(&mut self, src: &mut BytesMut, limit: usize) -> Result<Option<Frame<u32>>, FrameError> {
        let Some(len) = src.first().map(|len| usize::from(*len)) else { return Ok(None) };
        if len > limit {
            return Err(FrameError::too_large(len as u64, limit));
        }
        if src.len() <= len {
            return Ok(None);
        }
        let mut message = src.split_to(1 + len).freeze();
        message.advance(1);
        let (kind, id, number) = (message.get_u8(), message.get_u32(), message.get_u8());
        let deadline = (number > 0).then(|| self.epoch + Duration::from_millis(number.into()));
        let shape = if kind == ONEWAY { Shape::Oneway } else { Shape::Unary };
        let head = RequestHead { shape, deadline, ..RequestHead::default() };
        let answered = (!IN_ORDER).then_some(id);
        Ok(Some(match kind {
            CALL => Frame::Request { id, head, body: message, answer: Answer::Wanted, mirror: id },
            ONEWAY => Frame::Request { id, head, body: message, answer: Answer::None, mirror: id },
            UNREADABLE => Frame::Refused { id, status: Status::invalid_argument("unreadable"), mirror: id },
            REPLY => Frame::Response { id: answered, method: None, head: ResponseHead::ok(), body: message },
            FAILURE => {
                let head = ResponseHead::failed(Status::internal("as the peer says"));
                Frame::Response { id: answered, method: None, head, body: message }
            }
            NAMED_REPLY => {
                let method = Some(message.clone());
                Frame::Response { id: answered, method, head: ResponseHead::ok(), body: message }
            }
            GO_AWAY => Frame::GoAway,
            IGNORED => Frame::Ignored,
            _ => return Err(FrameError::malformed("no such kind")),
        }))
    }

    fn detect(&self, _: &[u8]) -> Detect {
        Detect::Yes
    }
}

/// One side, with what it wrote.
struct Bench<const IN_ORDER: bool> {
    unary: Unary<Toy<IN_ORDER>>,
    epoch: Instant,
    read: BytesMut,
}

type ById = Bench<false>;
type InOrder = Bench<true>;

impl<const IN_ORDER: bool> Bench<IN_ORDER> {
    fn server(limits: Limits) -> Self {
        let epoch = Instant::now();
        Self { unary: Unary::server(Toy { epoch }, limits), epoch, read: BytesMut::new() }
    }

    fn client(limits: Limits, first_id: u32) -> Self {
        let epoch = Instant::now();
        Self { unary: Unary::client(Toy { epoch }, limits, CallId(first_id)), epoch, read: BytesMut::new() }
    }

    fn at(&self, millis: u64) -> Instant {
        self.epoch + Duration::from_millis(millis)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), ConnectionError> {
        self.read.extend_from_slice(bytes);
        self.unary.handle_input(self.epoch, &mut self.read)
    }

    fn written(&mut self) -> Vec<u8> {
        let mut out = WriteBuf::new();
        self.unary.poll_output(&mut out);
        out.copy_to_bytes(out.remaining()).to_vec()
    }

    /// The next request, which must be there.
    fn request(&mut self) -> (CallId, Bytes) {
        match self.unary.poll_event() {
            Some(Event::Request { id, body, .. }) => (id, body),
            other => panic!("{other:?} is no request"),
        }
    }

    fn reply(&mut self, id: CallId, body: &'static [u8]) -> Result<(), CallError> {
        self.unary.reply(id, &ResponseHead::ok(), &Bytes::from_static(body), More::Done)
    }

    fn open(&mut self) -> Result<u32, OpenError> {
        self.open_until(None)
    }

    fn open_until(&mut self, deadline: Option<Instant>) -> Result<u32, OpenError> {
        let head = RequestHead { method: Name::from_static("method"), deadline, ..RequestHead::default() };
        self.unary.open(&head, &Bytes::from_static(b"?"), More::Done).map(|id| id.0)
    }

    fn no_event(&mut self) {
        let event = self.unary.poll_event();
        assert!(event.is_none(), "{event:?}");
    }

    fn response(&mut self) -> u32 {
        match self.unary.poll_event() {
            Some(Event::Response { id, .. }) => id.0,
            other => panic!("{other:?} is no response"),
        }
    }

    fn reset(&mut self) -> (u32, Reason) {
        match self.unary.poll_event() {
            Some(Event::Reset { id, reason }) => (id.0, reason),
            other => panic!("{other:?} is no reset"),
        }
    }
}

fn last_id() -> u32 {
    i32::MAX.cast_unsigned()
}

#[test]
fn ids_begin_at_one_even_where_zero_is_asked_for_and_wrap_around_to_it() {
    assert_eq!(ById::client(Limits::default(), 0).open(), Ok(1));
    assert_eq!(ById::client(Limits::default(), u32::MAX).open(), Ok(1));
    let mut client = ById::client(Limits::default(), last_id() - 1);
    let ids: Vec<_> = (0..4).map(|_| client.open().unwrap()).collect();
    assert_eq!(ids, [last_id() - 1, last_id(), 1, 2]);
}

#[test]
fn an_id_in_use_is_skipped_also_by_a_counter_that_wrapped() {
    let mut client = ById::client(Limits::default(), 1);
    let oldest = client.open().unwrap();
    client.unary.outgoing.set_next(last_id());
    let ids: Vec<_> = (0..3).map(|_| client.open().unwrap()).collect();
    assert_eq!(ids.first(), Some(&last_id()));
    assert!(!ids.contains(&oldest) && !ids.contains(&0), "{ids:?}");
}

#[test]
fn the_id_of_a_call_that_was_given_up_stays_taken_until_its_answer_came() {
    let mut client = ById::client(Limits::default(), 1);
    let given_up = client.open().unwrap();
    client.unary.reset(CallId(given_up), Reason::Cancel);
    assert_eq!(client.unary.in_flight(), 0, "its place is free at once");
    client.written();
    assert!(!client.unary.is_clean(&[]), "its answer is still to come");
    client.unary.outgoing.set_next(given_up);
    let next = client.open().unwrap();
    assert_ne!(next, given_up);
    client.take(&frame(REPLY, given_up, 0, b"late")).unwrap();
    client.no_event();
    client.take(&frame(REPLY, next, 0, b"")).unwrap();
    assert_eq!(client.response(), next);
    client.written();
    assert!(client.unary.is_clean(&[]));
    client.unary.outgoing.set_next(given_up);
    assert_eq!(client.open(), Ok(given_up), "now it is free");
}

#[test]
fn too_many_unanswered_calls_that_were_given_up_end_the_connection() {
    let limits = Limits { max_abandoned: 3, ..Limits::default() };
    let mut client = ById::client(limits, 1);
    for _ in 0..3 {
        let id = client.open().unwrap();
        client.unary.reset(CallId(id), Reason::Cancel);
    }
    assert_eq!(client.take(&frame(IGNORED, 0, 0, b"")), Ok(()));
    assert_eq!(client.unary.handle_timeout(client.at(0)), Ok(()));
    let deadline = client.at(5);
    client.open_until(Some(deadline)).unwrap();
    let error = client.unary.handle_timeout(deadline).unwrap_err();
    assert_eq!(error.kind(), ConnectionErrorKind::Unresponsive);
    let error = client.take(&frame(IGNORED, 0, 0, b"")).unwrap_err();
    assert_eq!(error.kind(), ConnectionErrorKind::Unresponsive);
}

#[test]
fn an_answer_that_nobody_waits_for_is_a_stray_and_one_to_another_method_a_reset() {
    let mut client = ById::client(Limits::default(), 1);
    client.take(&frame(REPLY, 77, 0, b"")).unwrap();
    assert!(matches!(client.unary.poll_event(), Some(Event::Stray)));
    let id = client.open().unwrap();
    client.take(&frame(NAMED_REPLY, id, 0, b"method")).unwrap();
    assert_eq!(client.response(), id);
    client.take(&frame(REPLY, id, 0, b"")).unwrap();
    assert!(matches!(client.unary.poll_event(), Some(Event::Stray)), "a second answer");
    let id = client.open().unwrap();
    client.take(&frame(NAMED_REPLY, id, 0, b"another")).unwrap();
    assert_eq!(client.reset(), (id, Reason::Protocol));
    assert_eq!(client.unary.in_flight(), 0);
}

#[test]
fn requests_to_a_client_and_answers_to_a_server_break_the_connection() {
    let mut client = ById::client(Limits::default(), 1);
    assert_eq!(client.take(&frame(CALL, 1, 0, b"")).unwrap_err().kind(), ConnectionErrorKind::Malformed);
    let mut server = ById::server(Limits::default());
    assert_eq!(server.take(&frame(REPLY, 1, 0, b"")).unwrap_err().kind(), ConnectionErrorKind::Malformed);
    assert_eq!(server.take(&frame(BROKEN, 1, 0, b"")).unwrap_err().kind(), ConnectionErrorKind::Malformed);
}

#[test]
fn in_order_a_client_has_one_exchange_at_a_time_and_needs_no_ids() {
    let mut client = InOrder::client(Limits::default(), 1);
    let first = client.open().unwrap();
    assert_eq!((client.unary.capacity(), client.open()), (0, Err(OpenError::Full)));
    client.take(&frame(REPLY, 99, 0, b"")).unwrap();
    assert_eq!(client.response(), first);
    assert_eq!(client.unary.capacity(), 1);
    let second = client.open().unwrap();
    client.unary.reset(CallId(second), Reason::Cancel);
    assert_eq!(client.unary.capacity(), 0, "the next answer is the one that was given up");
    client.take(&frame(REPLY, 0, 0, b"")).unwrap();
    client.no_event();
    assert_eq!(client.unary.capacity(), 1);
    client.take(&frame(REPLY, 0, 0, b"")).unwrap();
    assert!(matches!(client.unary.poll_event(), Some(Event::Stray)));
}

#[test]
fn answers_to_calls_that_share_an_id_keep_the_order_of_arrival() {
    let mut server = ById::server(Limits::default());
    let calls =
        [frame(CALL, 0, 0, b"a"), frame(CALL, 0, 0, b"b"), frame(CALL, 5, 0, b"x"), frame(CALL, 0, 0, b"c")];
    server.take(&calls.concat()).unwrap();
    let [a, b, x, c] = [(); 4].map(|()| server.request().0);
    server.reply(c, b"C").unwrap();
    server.reply(x, b"X").unwrap();
    assert_eq!(server.written(), frame(REPLY, 5, 0, b"X"), "another id does not wait");
    server.reply(b, b"B").unwrap();
    assert_eq!(server.written(), b"");
    assert_eq!(server.unary.in_flight(), 3);
    assert_eq!(server.reply(b, b"again"), Err(CallError::Unknown), "it is answered, though held back");
    server.reply(a, b"A").unwrap();
    assert_eq!(
        server.written(),
        [frame(REPLY, 0, 0, b"A"), frame(REPLY, 0, 0, b"B"), frame(REPLY, 0, 0, b"C")].concat()
    );
    assert_eq!(server.unary.in_flight(), 0);
}

#[test]
fn all_that_waits_to_be_written_counts() {
    let mut server = ById::server(Limits::default());
    server
        .take(&[frame(CALL, 0, 0, b""), frame(CALL, 0, 0, b""), frame(UNREADABLE, 0, 0, b"")].concat())
        .unwrap();
    let (first, second) = (server.request().0, server.request().0);
    assert_eq!(server.unary.unsent(), 0);
    server.no_event();
    let refused = server.unary.unsent();
    assert!(refused > "unreadable".len(), "a failure that is held");
    server.reply(second, &[b'x'; 40]).unwrap();
    let held = server.unary.unsent();
    assert!(held > refused + 40, "an answer that is held");
    server.reply(first, b"").unwrap();
    let (unsent, written) = (server.unary.unsent(), server.written());
    assert_eq!((unsent, server.unary.unsent()), (written.len(), 0), "and once they may leave");
}

#[test]
fn all_answers_keep_their_order_where_that_is_asked_for() {
    let ordered = Limits { ordered: true, ..Limits::default() };
    let calls = [frame(CALL, 3, 0, b""), frame(ONEWAY, 4, 0, b""), frame(CALL, 1, 0, b"")].concat();
    let answers = [frame(REPLY, 3, 0, b"3"), frame(REPLY, 1, 0, b"1")].concat();
    fn check<const IN_ORDER: bool>(mut server: Bench<IN_ORDER>, calls: &[u8], answers: &[u8]) {
        server.take(calls).unwrap();
        let [three, oneway, one] = [(); 3].map(|()| server.request().0);
        server.reply(one, b"1").unwrap();
        server.reply(oneway, b"nobody reads it").unwrap();
        assert_eq!(server.written(), b"");
        server.reply(three, b"3").unwrap();
        assert_eq!(server.written(), answers);
    }
    check(ById::server(ordered), &calls, &answers);
    check(InOrder::server(Limits::default()), &calls, &answers);
}

#[test]
fn a_oneway_call_counts_until_it_ends_and_writes_nothing() {
    let mut server = ById::server(Limits::default());
    server.take(&[frame(ONEWAY, 1, 0, b"a"), frame(ONEWAY, 1, 0, b"b")].concat()).unwrap();
    let (a, b) = (server.request().0, server.request().0);
    assert_eq!(server.unary.in_flight(), 2);
    server.reply(a, b"?").unwrap();
    server.unary.reset(b, Reason::Cancel);
    assert_eq!((server.unary.in_flight(), server.written()), (0, vec![]));

    let mut client = ById::client(Limits::default(), 1);
    let head = RequestHead { shape: Shape::Oneway, ..RequestHead::default() };
    client.unary.open(&head, &Bytes::new(), More::Done).unwrap();
    assert_eq!((client.unary.in_flight(), client.written().is_empty()), (0, false));
    assert!(client.unary.is_clean(&[]));
}

#[test]
fn a_request_that_can_not_be_handed_on_is_answered_in_its_turn() {
    let mut server = ById::server(Limits::default());
    server
        .take(&[frame(CALL, 0, 0, b"a"), frame(UNREADABLE, 0, 0, b"b"), frame(CALL, 0, 0, b"c")].concat())
        .unwrap();
    let (a, c) = (server.request().0, server.request().0);
    server.no_event();
    server.reply(c, b"C").unwrap();
    assert_eq!(server.written(), b"");
    server.reply(a, b"A").unwrap();
    let invalid_argument = 3;
    let answers =
        [frame(REPLY, 0, 0, b"A"), frame(FAILURE, 0, invalid_argument, b""), frame(REPLY, 0, 0, b"C")];
    assert_eq!(server.written(), answers.concat());
    assert_eq!(server.unary.in_flight(), 0);
}

/// A server that knows of the deadline may answer at the same moment, and may have no word for it.
#[test]
fn a_failure_that_comes_when_time_is_up_is_the_deadlines() {
    for (kind, millis, late) in [(FAILURE, 9, false), (FAILURE, 10, true), (REPLY, 11, false)] {
        let mut client = ById::client(Limits::default(), 1);
        let id = client.open_until(Some(client.at(10))).unwrap();
        client.written();
        client.read.extend_from_slice(&frame(kind, id, 0, b""));
        client.unary.handle_input(client.at(millis), &mut client.read).unwrap();
        match client.unary.poll_event() {
            Some(Event::Reset { reason: Reason::Deadline, .. }) => assert!(late, "{kind} after {millis}"),
            Some(Event::Response { .. }) => assert!(!late, "{kind} after {millis}"),
            other => panic!("{other:?}"),
        }
        assert!(client.unary.is_clean(&[]), "the answer came");
    }
}

#[test]
fn a_client_resets_what_is_late() {
    let mut client = ById::client(Limits::default(), 1);
    let (at_ten, at_twenty) = (client.at(10), client.at(20));
    let late = client.open_until(Some(at_ten)).unwrap();
    let later = client.open_until(Some(at_twenty)).unwrap();
    let never = client.open().unwrap();
    assert_eq!(client.unary.poll_timeout(), Some(at_ten));
    client.unary.handle_timeout(client.at(9)).unwrap();
    client.no_event();
    client.unary.handle_timeout(at_ten).unwrap();
    assert_eq!(client.reset(), (late, Reason::Deadline));
    client.no_event();
    assert_eq!((client.unary.poll_timeout(), client.unary.in_flight()), (Some(at_twenty), 2));
    client.take(&[frame(REPLY, later, 0, b""), frame(REPLY, late, 0, b"")].concat()).unwrap();
    assert_eq!(client.response(), later);
    client.no_event();
    client.unary.handle_timeout(at_twenty).unwrap();
    client.no_event();
    assert_eq!((client.unary.poll_timeout(), client.unary.in_flight()), (None, 1));
    client.unary.reset(CallId(never), Reason::Cancel);
}

#[test]
fn a_server_answers_what_is_late_and_says_that_its_handler_may_go() {
    let mut server = ById::server(Limits::default());
    server
        .take(&[frame(CALL, 1, 10, b""), frame(CALL, 2, 20, b""), frame(ONEWAY, 3, 10, b"")].concat())
        .unwrap();
    let (late, intime, oneway) = (server.request().0, server.request().0, server.request().0);
    assert_eq!(server.unary.poll_timeout(), Some(server.at(10)));
    server.unary.handle_timeout(server.at(10)).unwrap();
    let mut resets = [server.reset(), server.reset()];
    resets.sort_by_key(|(id, _)| *id);
    assert_eq!(resets, [(late.0, Reason::Deadline), (oneway.0, Reason::Deadline)]);
    let deadline_exceeded = 4;
    assert_eq!(server.written(), frame(FAILURE, 1, deadline_exceeded, b""));
    assert_eq!(server.reply(late, b"too late"), Err(CallError::Unknown));
    server.reply(intime, b"!").unwrap();
    assert_eq!(server.written(), frame(REPLY, 2, 0, b"!"));
    assert_eq!(server.unary.in_flight(), 0);
}

#[test]
fn the_end_of_a_late_call_is_told_before_its_number_is_given_to_another() {
    let mut server = ById::server(Limits::default());
    server.take(&frame(CALL, 1, 10, b"late")).unwrap();
    let late = server.request().0;
    // Another has come in and was not taken yet when the time is up.
    server.take(&frame(CALL, 2, 0, b"next")).unwrap();
    server.unary.handle_timeout(server.at(10)).unwrap();
    assert_eq!(server.reset(), (late.0, Reason::Deadline));
    let (next, body) = server.request();
    assert_eq!((next, &body[..]), (late, &b"next"[..]), "the number is used again");
    server.no_event();
}

#[test]
fn a_held_answer_is_no_longer_late() {
    let mut server = ById::server(Limits::default());
    server.take(&[frame(CALL, 0, 0, b""), frame(CALL, 0, 10, b"")].concat()).unwrap();
    let (first, second) = (server.request().0, server.request().0);
    server.reply(second, b"in time").unwrap();
    server.unary.handle_timeout(server.at(50)).unwrap();
    server.no_event();
    server.reply(first, b"first").unwrap();
    assert_eq!(server.written(), [frame(REPLY, 0, 0, b"first"), frame(REPLY, 0, 0, b"in time")].concat());
}

#[test]
fn without_room_requests_stay_unread() {
    let limits = Limits { max_in_flight: 2, ..Limits::default() };
    let mut server = ById::server(limits);
    let calls: Vec<_> = (1..=5).map(|id| frame(CALL, id, 0, b"")).collect();
    server.take(&calls.concat()).unwrap();
    assert_eq!((server.unary.capacity(), server.read.len()), (0, 3 * calls[0].len()), "queued ones count");
    let (one, _two) = (server.request().0, server.request().0);
    server.no_event();
    server.take(b"").unwrap();
    server.no_event();
    server.reply(one, b"").unwrap();
    assert_eq!(server.unary.capacity(), 1);
    server.take(b"").unwrap();
    assert_eq!((server.unary.capacity(), server.read.len()), (0, 2 * calls[0].len()));
    assert_eq!(server.unary.in_flight(), 2);

    let limits = Limits { max_in_flight: 2, ..Limits::default() };
    let mut client = ById::client(limits, 1);
    let (first, _) = (client.open().unwrap(), client.open().unwrap());
    assert_eq!((client.unary.capacity(), client.open()), (0, Err(OpenError::Full)));
    client.unary.reset(CallId(first), Reason::Cancel);
    assert_eq!(client.unary.capacity(), 1);
    client.open().unwrap();
}

#[test]
fn requests_in_flight_have_a_bound_in_bytes() {
    let limits = Limits { max_in_flight_bytes: 20, ..Limits::default() };
    let mut server = ById::server(limits);
    let call = frame(CALL, 0, 0, b"large");
    assert_eq!(call.len(), 12);
    server.take(&call.repeat(4)).unwrap();
    assert_eq!((server.unary.capacity(), server.read.len()), (0, 2 * call.len()), "queued ones count");
    let (one, two) = (server.request().0, server.request().0);
    server.take(b"").unwrap();
    server.no_event();
    server.reply(two, b"held").unwrap();
    assert!(server.unary.capacity() > 0, "an answered one does not count, though its answer is held");
    server.take(b"").unwrap();
    assert_eq!((server.unary.capacity(), server.read.len()), (0, call.len()));
    server.unary.reset(one, Reason::Cancel);
    assert!(server.unary.capacity() > 0);
    server.take(b"").unwrap();
    let (three, four) = (server.request().0, server.request().0);
    for id in [three, four] {
        server.reply(id, b"").unwrap();
    }
    // One alone may have any size.
    server.take(&[frame(CALL, 1, 0, &[0; 100]), frame(CALL, 2, 0, b"")].concat()).unwrap();
    let large = server.request().0;
    server.no_event();
    server.reply(large, b"").unwrap();
    server.take(b"").unwrap();
    server.request();
}

#[test]
fn going_away_refuses_what_is_new_and_finishes_what_is_not() {
    let mut server = ById::server(Limits::default());
    server.take(&frame(CALL, 1, 0, b"")).unwrap();
    let old = server.request().0;
    server.unary.go_away();
    server.take(&[frame(CALL, 2, 0, b""), frame(ONEWAY, 3, 0, b"")].concat()).unwrap();
    server.no_event();
    let unavailable = 14;
    assert_eq!(server.written(), frame(FAILURE, 2, unavailable, b""));
    assert!(!server.unary.is_clean(&[]));
    server.reply(old, b"done").unwrap();
    assert_eq!((server.written(), server.unary.in_flight()), (frame(REPLY, 1, 0, b"done"), 0));

    let mut client = ById::client(Limits::default(), 1);
    let id = client.open().unwrap();
    client.take(&frame(GO_AWAY, 0, 0, b"")).unwrap();
    assert!(matches!(client.unary.poll_event(), Some(Event::GoAway)));
    assert_eq!(client.open(), Err(OpenError::GoingAway));
    client.take(&frame(REPLY, id, 0, b"")).unwrap();
    assert_eq!(client.response(), id);
    assert!(!client.unary.is_clean(&[]), "it can not be used again");

    let mut client = ById::client(Limits::default(), 1);
    client.unary.go_away();
    assert_eq!(client.open(), Err(OpenError::GoingAway));
}

/// Kitex's servers do so when they do not know the method of a Protobuf message.
#[test]
fn a_failure_without_an_id_is_that_of_the_only_call() {
    let internal = 13;
    let mut client = ById::client(Limits::default(), 1);
    let id = client.open().unwrap();
    client.take(&frame(FAILURE, 0, internal, b"")).unwrap();
    assert_eq!(client.response(), id);
    // Whose it is nobody knows where there are several, and a success has its id.
    let (first, second) = (client.open().unwrap(), client.open().unwrap());
    client.take(&frame(FAILURE, 0, internal, b"")).unwrap();
    assert!(matches!(client.unary.poll_event(), Some(Event::Stray)));
    client.take(&frame(REPLY, first, 0, b"")).unwrap();
    assert_eq!(client.response(), first);
    client.take(&frame(REPLY, 0, 0, b"")).unwrap();
    assert!(matches!(client.unary.poll_event(), Some(Event::Stray)));
    assert!(client.unary.outgoing.answer(Some(second), None) != Answered::Unknown);
}

#[test]
fn what_can_not_be_written_leaves_no_bytes() {
    let limits = Limits { max_message: 20, ..Limits::default() };
    let large = Bytes::from_static(&[b'x'; 15]);
    let mut client = ById::client(limits.clone(), 1);
    let small = client.open().unwrap();
    let head = RequestHead::default();
    let error = client.unary.open(&head, &large, More::Done).unwrap_err();
    assert_eq!(error, OpenError::TooLarge { size: 21, limit: 20 });
    let unwritable = RequestHead { method: Name::from_static("unwritable"), ..RequestHead::default() };
    let error = client.unary.open(&unwritable, &Bytes::new(), More::Done).unwrap_err();
    assert!(matches!(error, OpenError::Unsupported(_)));
    let error = client.unary.open(&head, &Bytes::new(), More::Streaming).unwrap_err();
    assert!(matches!(error, OpenError::Unsupported(_)));
    assert_eq!((client.written(), client.unary.in_flight()), (frame(CALL, small, 0, b"?"), 1));
    client.unary.open(&head, &large.slice(1..), More::Done).expect("exactly as large as allowed");

    let mut server = ById::server(limits);
    server.take(&[frame(CALL, 1, 0, b""), frame(CALL, 1, 0, b"")].concat()).unwrap();
    let (first, second) = (server.request().0, server.request().0);
    for answer in [&large, &Bytes::from_static(b"unwritable")] {
        assert!(server.unary.reply(first, &ResponseHead::ok(), answer, More::Done).is_err());
        assert_eq!((server.written(), server.unary.in_flight()), (vec![], 2), "it is still to be answered");
    }
    // One that is held is written when nobody is left to hear of it: its caller gets a failure.
    server.unary.reply(second, &ResponseHead::ok(), &Bytes::from_static(b"unwritable"), More::Done).unwrap();
    server.unary.reply(first, &ResponseHead::ok(), &large.slice(1..), More::Done).unwrap();
    let internal = 13;
    assert_eq!(
        server.written(),
        [frame(REPLY, 1, 0, &large[1..]), frame(FAILURE, 1, internal, b"")].concat()
    );
    assert_eq!(server.unary.in_flight(), 0);
}

#[test]
fn a_message_above_the_limit_is_refused_by_its_length_alone() {
    let mut server = ById::server(Limits { max_message: 20, ..Limits::default() });
    let error = server.take(&[21]).unwrap_err();
    assert_eq!(error.kind(), ConnectionErrorKind::TooLarge);
    let mut server = ById::server(Limits { max_message: 20, ..Limits::default() });
    server.take(&frame(CALL, 1, 0, &[0; 14])).unwrap();
    server.request();
}

#[test]
fn an_end_inside_a_message_is_an_error_and_between_messages_is_not() {
    let mut server = ById::server(Limits::default());
    server.take(&frame(CALL, 1, 0, b"")[..3]).unwrap();
    let unread = server.read.clone();
    assert_eq!(server.unary.handle_eof(&unread).unwrap_err().kind(), ConnectionErrorKind::Truncated);
    let mut client = ById::client(Limits::default(), 1);
    client.unary.handle_eof(&[]).unwrap();
    assert_eq!(client.open(), Err(OpenError::GoingAway));
}

#[test]
fn a_connection_is_clean_only_when_nothing_is_left_of_any_exchange() {
    let mut client = ById::client(Limits::default(), 1);
    assert!(client.unary.is_clean(&[]) && !client.unary.is_clean(&[0]));
    let id = client.open().unwrap();
    assert!(!client.unary.is_clean(&[]), "something is to be written");
    client.written();
    assert!(!client.unary.is_clean(&[]), "something is to be answered");
    client.take(&frame(REPLY, id, 0, b"")).unwrap();
    assert!(!client.unary.is_clean(&[]), "something is to be taken");
    client.response();
    assert!(client.unary.is_clean(&[]));
}

#[test]
fn commands_that_make_no_sense_are_refused_or_mean_nothing() {
    let mut server = ById::server(Limits::default());
    assert_eq!(server.reply(CallId(7), b""), Err(CallError::Unknown));
    assert_eq!(server.reply(CallId(u32::MAX), b""), Err(CallError::Unknown));
    server.unary.reset(CallId(7), Reason::Cancel);
    assert!(server.unary.send(CallId(7), &Bytes::new()).is_err());
    assert!(server.unary.finish(CallId(7), &ResponseHead::ok()).is_err());
    assert_eq!(server.unary.window(CallId(7)), 0);
    server.take(&frame(CALL, 1, 0, b"")).unwrap();
    let id = server.request().0;
    assert!(server.unary.reply(id, &ResponseHead::ok(), &Bytes::new(), More::Streaming).is_err());
    server.unary.reset(id, Reason::Cancel);
    let cancelled = 1;
    assert_eq!(server.written(), frame(FAILURE, 1, cancelled, b""), "the peer is owed an answer");
    server.unary.reset(id, Reason::Cancel);
    assert_eq!((server.written(), server.unary.in_flight()), (vec![], 0));
}

proptest! {
    /// Whatever ids the calls have and in whatever order they end, each is answered once, answers to one id leave in the order
    /// of its calls, and no answer waits for one of another id.
    #[test]
    fn each_call_is_answered_once_and_each_id_in_order(
        ids in prop::collection::vec(0u32..4, 1..40),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 80),
        ordered in any::<bool>(),
    ) {
        let mut server = ById::server(Limits { ordered, ..Limits::default() });
        let mut choices = choices.iter().cycle();
        // Calls that are not ended yet, as (call, id, place among the calls of its chain).
        let (mut open, mut waiting, mut answered) = (Vec::new(), ids.iter().enumerate(), Vec::new());
        let mut ended: Vec<(u32, u8)> = Vec::new();
        loop {
            let choice = choices.next().unwrap();
            if choice.index(2) == 0 || open.is_empty() {
                if let Some((place, id)) = waiting.next() {
                    let place = u8::try_from(place).unwrap();
                    server.take(&frame(CALL, *id, 0, &[place])).unwrap();
                    open.push((server.request().0, *id, place));
                    continue;
                }
                if open.is_empty() {
                    break;
                }
            }
            let (call, id, place) = open.swap_remove(choice.index(open.len()));
            let body = Bytes::copy_from_slice(&[place]);
            prop_assert_eq!(server.unary.reply(call, &ResponseHead::ok(), &body, More::Done), Ok(()));
            ended.push((id, place));
            let written = server.written();
            for answer in written.chunks(8) {
                answered.push((u32::from_be_bytes(answer[2..6].try_into().unwrap()), answer[7]));
            }
            // Exactly those are out that no open call of their chain came before.
            let is_before = |other: (u32, u8), this: (u32, u8)| (ordered || other.0 == this.0) && other.1 < this.1;
            let free = |this: (u32, u8)| !open.iter().any(|(_, id, place)| is_before((*id, *place), this));
            let expected = ended.iter().filter(|call| free(**call)).count();
            prop_assert_eq!(answered.len(), expected);
        }
        prop_assert_eq!((server.unary.in_flight(), answered.len()), (0, ids.len()));
        for chain in 0..4 {
            let places: Vec<_> = answered.iter().filter(|(id, _)| ordered || *id == chain).map(|(_, place)| *place).collect();
            prop_assert!(places.is_sorted(), "{:?}", places);
        }
    }

    /// However the bytes are cut, the same comes out.
    #[test]
    fn the_same_bytes_in_other_pieces_give_the_same_events(
        frames in prop::collection::vec((1u8..10, 0u32..3, 0u8..3, prop::collection::vec(any::<u8>(), 0..5)), 0..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let stream: Vec<u8> = frames.iter().flat_map(|(kind, id, deadline, body)| frame(*kind, *id, *deadline, body)).collect();
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).chain([0, stream.len()]).collect();
        places.sort_unstable();
        let pieces = places.windows(2).map(|pair| &stream[pair[0]..pair[1]]);
        prop_assert_eq!(events(pieces), events([&stream[..]]));
    }
}

/// What a server makes of a stream.
fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, bool) {
    let mut server = ById::server(Limits::default());
    let mut seen = Vec::new();
    for piece in pieces {
        let result = server.take(piece);
        while let Some(event) = server.unary.poll_event() {
            if let Event::Request { id, body, more, .. } = event {
                seen.push(format!("{id:?} {body:?} {more:?}"));
            }
        }
        if result.is_err() {
            return (seen, true);
        }
    }
    (seen, false)
}
