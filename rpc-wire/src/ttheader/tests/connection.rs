use super::*;
use crate::testing::echo;
use crate::{CallId, Event, Limits, MakeProtocol, More, Protocol};

#[test]
fn requests_say_that_answers_may_come_in_any_order() {
    assert_eq!(call(&echo()).unwrap()[4..8], [0x10, 0, 0, 1]);
    let plain = with(|config| config.out_of_order = false);
    assert_eq!(encode(&plain, &echo()).unwrap()[4..8], [0x10, 0, 0, 0]);
    // One call at a time has no order, and nobody reads what comes between.
    for (max_in_flight, flags) in [(1, 0), (2, 1)] {
        let limits = Limits { max_in_flight, ..Limits::default() };
        let mut client = framing().client(&limits, CallId(1));
        client.open(&echo(), &Bytes::from_static(HI), More::Done).unwrap();
        assert_eq!(output(&mut client)[4..8], [0x10, 0, 0, flags]);
    }
}

fn server_after(request: &[u8]) -> Unary {
    let mut server = framing().server(&Limits::default());
    server.handle_input(Instant::now(), &mut BytesMut::from(request)).unwrap();
    assert!(matches!(server.poll_event(), Some(Event::Request { .. })));
    server
}

type Unary = crate::Unary<TtHeader<Strict>>;

fn output(protocol: &mut Unary) -> Vec<u8> {
    let mut out = WriteBuf::new();
    protocol.poll_output(&mut out);
    written(|dst| out.move_into(dst))
}

#[test]
fn a_server_that_goes_away_tells_a_client_that_multiplexes() {
    let mut server = server_after(&call(&echo()).unwrap());
    server.go_away();
    server.go_away();
    assert_eq!(output(&mut server), h3());
    server.reply(CallId(1 << 31), &ResponseHead::ok(), &Bytes::from_static(RESULT), More::Done).unwrap();
    assert!(!output(&mut server).windows(5).any(|window| window == b"crrst"));
}

#[test]
fn a_server_that_goes_away_tells_others_on_their_answers() {
    let mut server = server_after(&h1());
    server.go_away();
    assert_eq!(output(&mut server), b"");
    server.reply(CallId(1 << 31), &ResponseHead::ok(), &Bytes::from_static(RESULT), More::Done).unwrap();
    let bytes = output(&mut server);
    assert!(bytes.windows(8).any(|window| window == b"crrst\0\x011"));
    match decode(&bytes).unwrap() {
        Frame::Last(frame) => assert!(matches!(*frame, Frame::Response { id: Some(1), .. })),
        other => panic!("{other:?}"),
    }
}

/// A client that asked before it heard does not ask again: Kitex's take a refusal for an answer.
#[test]
fn what_crosses_the_farewell_is_served() {
    for (request, told) in [(call(&echo()).unwrap(), &h3()[..]), (h1(), b"")] {
        let mut server = server_after(&request);
        assert!(!server.may_be_crossed());
        server.go_away();
        assert!(server.may_be_crossed());
        assert_eq!(output(&mut server), told);
        server.handle_input(Instant::now(), &mut BytesMut::from(&request[..])).unwrap();
        let Some(Event::Request { id, .. }) = server.poll_event() else { panic!("it is refused") };
        server.reply(id, &ResponseHead::ok(), &Bytes::from_static(RESULT), More::Done).unwrap();
    }
}

#[test]
fn a_client_that_is_told_opens_no_more_calls_and_gets_its_answers() {
    let last = packet(0, 1, &t4(), texts(&[("crrst", b"1")]));
    for told in [[h3(), packet(0, 1, &t4(), |_| ())].concat(), last] {
        let mut client = framing().client(&Limits::default(), CallId(1));
        client.open(&echo(), &Bytes::from_static(HI), More::Done).unwrap();
        client.handle_input(Instant::now(), &mut BytesMut::from(&told[..])).unwrap();
        let (mut away, mut answered) = (false, false);
        while let Some(event) = client.poll_event() {
            match event {
                Event::GoAway => away = true,
                Event::Response { id: CallId(1), .. } => answered = true,
                other => panic!("{other:?}"),
            }
        }
        assert!(away && answered);
        assert_eq!(client.open(&echo(), &Bytes::new(), More::Done), Err(crate::OpenError::GoingAway));
    }
}

#[test]
fn packets_of_id_0() {
    // volo's first call has it.
    let mut zero = t1();
    zero[12..16].fill(0);
    assert!(matches!(decode(&packet(0, 0, &zero, |_| ())), Ok(Frame::Request { id: 0, .. })));
    let mut none = t4();
    none[12..16].fill(0);
    assert!(matches!(decode(&packet(0, 0, &none, |_| ())), Ok(Frame::Ignored)));
    // A proxy's exception without an id is for the call that the packet names.
    let mut failed = t5();
    failed[12..16].fill(0);
    assert!(matches!(decode(&packet(0, 9, &failed, |_| ())), Ok(Frame::Response { id: Some(9), .. })));
}

#[test]
fn streams_are_refused() {
    assert!(decode(&packet(2, 1, &t1(), |_| ())).is_err());
}
