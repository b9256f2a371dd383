//! Clients against a server that the test plays byte by byte. Everything is in memory under a paused clock, so a time limit
//! passes when nothing else is to be done.
#![allow(clippy::unwrap_used)] // all of it is a test

use std::time::Duration;

use codec_thrift::FramedBinary;
use rpc_core::{CallOptions, Client, Code, Error, Outcome, Sent, Stage, TransportErrorKind};
use rpc_test::transport::{Kind, Settings, patient};
use rpc_test::{Answer, Net, Peer, PipeConfig, Script, Text, Wire, golden, method, run, step, until};
use tests_matrix::probe_idl::{Poke, PokeArgs, ProbeException};
use tests_matrix::{MuxKind, PoolKind};
use tokio::task::JoinHandle;

struct Scene<K: Kind> {
    client: Client<codec_thrift::Binary, K::Transport<FramedBinary>>,
    transport: K::Transport<FramedBinary>,
    wire: Wire,
    script: Script,
}

type Call = JoinHandle<Result<Outcome<method::Echo>, Error>>;

impl<K: Kind> Scene<K> {
    fn new() -> Self {
        Self::over(PipeConfig::default())
    }

    fn over(pipe: PipeConfig) -> Self {
        let (wire, script) = Wire::to_script(pipe);
        let transport = K::make(wire.clone(), codec_thrift::framed(), Settings::default());
        Self { client: Client::new(transport.clone()).with(once()), transport, wire, script }
    }

    fn echo(&self, text: &str) -> Call {
        tokio::spawn(self.client.call::<method::Echo>(&Text::new(text)))
    }

    async fn is_at_rest(&self) {
        until("the gauges are at rest", || K::busy(&self.transport) == 0).await;
    }
}

/// No second attempt, so that each error is seen.
fn once() -> CallOptions {
    patient().retries(0)
}

async fn error(call: Call) -> Error {
    call.await.expect("no panic").expect_err("a call that fails")
}

async fn answer(call: Call) -> String {
    let Answer { text } =
        call.await.expect("no panic").expect("an answer").unwrap_or_else(|never| match never {});
    text
}

/// The id in a message with the strict header.
fn id(message: &[u8]) -> u32 {
    let name = u32::from_be_bytes(message[4..8].try_into().expect("four bytes")) as usize;
    u32::from_be_bytes(message[8 + name..][..4].try_into().expect("four bytes"))
}

/// An answer to `echo` in its frame.
fn reply(id: u32, name: &str, text: &str) -> Vec<u8> {
    let mut message = vec![0x80, 1, 0, 2];
    message.extend_from_slice(&length(name.as_bytes()));
    message.extend_from_slice(name.as_bytes());
    message.extend_from_slice(&id.to_be_bytes());
    message.extend_from_slice(&[0x0b, 0, 0]);
    message.extend_from_slice(&length(text.as_bytes()));
    message.extend_from_slice(text.as_bytes());
    message.push(0);
    framed(&message)
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&length(message), message].concat()
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap().to_be_bytes()
}

async fn answer_echo(peer: &mut Peer, text: &str) {
    let id = id(&peer.take_frame().await);
    peer.send(&reply(id, "echo", text)).await;
}

macro_rules! for_both {
    ($($case:ident)+) => {
        mod mux {
            $(
                #[test]
                fn $case() {
                    super::run(super::Net::Memory, super::$case::<super::MuxKind>());
                }
            )+
        }
        mod pool {
            $(
                #[test]
                fn $case() {
                    super::run(super::Net::Memory, super::$case::<super::PoolKind>());
                }
            )+
        }
    };
}
for_both! {
    the_request_is_written_as_it_is_written_down
    c019_the_peer_dies_in_the_middle_of_an_answer
    c029_a_void_method_succeeds_or_throws
    c030_an_answer_without_a_result
    c036_an_answer_with_another_id
    c036_an_answer_with_another_name
    c081_a_late_answer_is_nobodys
    c086_a_connection_that_is_closed_while_idle
    c091_a_deadline_while_the_peer_does_not_read
    c091_a_deadline_while_the_peer_does_not_answer
    c100_a_deadline_is_one_kind_of_error_wherever_it_passes
    an_answer_in_every_split
    an_answer_that_is_no_message
    an_exception_keeps_its_number
}

async fn the_request_is_written_as_it_is_written_down<K: Kind>() {
    let mut scene = Scene::<K>::new();
    let call = scene.echo("hi");
    let mut peer = scene.script.accept().await;
    let request = peer.take(30).await;
    golden::assert_bytes(
        &request,
        "00 00 00 1a              # frame: 26 bytes
         80 01 00 01              # version, call
         00 00 00 04 65 63 68 6f  # name: echo
         00 00 00 01              # id: 1
         0b 00 01                 # field 1: string
         00 00 00 02 68 69        # hi
         00                       # no more fields",
    );
    peer.send(&reply(1, "echo", "hi")).await;
    assert_eq!(answer(call).await, "hi");
    scene.is_at_rest().await;
}

async fn c019_the_peer_dies_in_the_middle_of_an_answer<K: Kind>() {
    let whole = reply(1, "echo", "one");
    for len in [10, 0, 3, 4, whole.len() - 1] {
        for reset in [false, true] {
            let mut scene = Scene::<K>::new();
            let call = scene.echo("one");
            let mut peer = scene.script.accept().await;
            peer.take_frame().await;
            peer.send(&whole[..len]).await;
            step().await;
            if reset {
                peer.reset()
            } else {
                drop(peer)
            }
            let error = error(call).await;
            let kind = error.transport().map(|error| error.kind());
            assert_eq!(kind, Some(TransportErrorKind::Closed), "{error}");
            assert_eq!((error.stage(), error.endpoint()), (Some(Stage::Receive), Some("script")), "{error}");
            assert_ne!(error.sent(), Sent::No, "{error}");
            let next = scene.echo("two");
            let mut peer = scene.script.accept().await;
            answer_echo(&mut peer, "two").await;
            assert_eq!((answer(next).await.as_str(), scene.wire.dials()), ("two", 2));
            scene.is_at_rest().await;
        }
    }
}

async fn c029_a_void_method_succeeds_or_throws<K: Kind>() {
    let mut scene = Scene::<K>::new();
    let args = PokeArgs { how: Some(5) };
    let call = tokio::spawn(scene.client.call::<Poke>(&args));
    let mut peer = scene.script.accept().await;
    peer.take_frame().await;
    peer.send(&golden::bytes("00 00 00 11 80 01 00 02 00 00 00 04 70 6f 6b 65 00 00 00 01 00")).await;
    assert_eq!(call.await.expect("no panic").expect("an answer"), Ok(()));

    let call = tokio::spawn(scene.client.call::<Poke>(&args));
    let id = id(&peer.take_frame().await);
    let mut thrown = golden::bytes(
        "00 00 00 26 80 01 00 02 00 00 00 04 70 6f 6b 65 00 00 00 01 0c 00 01 08 00 01 00 00 00 05
         0b 00 02 00 00 00 03 62 61 64 00 00",
    );
    thrown[16..20].copy_from_slice(&id.to_be_bytes());
    peer.send(&thrown).await;
    let Err(ProbeException::Oops(oops)) = call.await.expect("no panic").expect("an answer") else {
        panic!("nothing was thrown")
    };
    assert_eq!((oops.code, oops.text.as_deref()), (Some(5), Some("bad")));
    assert_eq!(scene.wire.dials(), 1, "the connection is used on");
    scene.is_at_rest().await;
}

async fn c030_an_answer_without_a_result<K: Kind>() {
    let mut scene = Scene::<K>::new();
    let call = scene.echo("hi");
    let mut peer = scene.script.accept().await;
    peer.take_frame().await;
    peer.send(&golden::bytes("00 00 00 11 80 01 00 02 00 00 00 04 65 63 68 6f 00 00 00 01 00")).await;
    let error = error(call).await;
    assert!(error.to_string().contains("missing result"), "{error}");
    assert_eq!((error.stage(), error.sent()), (Some(Stage::Decode), Sent::Yes));
    let next = scene.echo("on");
    answer_echo(&mut peer, "on").await;
    assert_eq!((answer(next).await.as_str(), scene.wire.dials()), ("on", 1));
    scene.is_at_rest().await;
}

/// Where calls share a connection the answer means nothing, and the caller's deadline rules; where one call has it for itself
/// the connection is out of step.
async fn c036_an_answer_with_another_id<K: Kind>() {
    let mut scene = Scene::<K>::new();
    let impatient = scene.client.with(once().timeout(Duration::from_millis(50)));
    let call = tokio::spawn(impatient.call::<method::Echo>(&Text::new("hi")));
    let mut peer = scene.script.accept().await;
    peer.take_frame().await;
    peer.send(&reply(2, "echo", "not yours")).await;
    let error = error(call).await;
    if K::SHARES {
        assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    } else {
        let kind = error.transport().map(|error| error.kind());
        assert_eq!((kind, error.sent()), (Some(TransportErrorKind::Protocol), Sent::Yes), "{error}");
        drop(peer);
        peer = {
            let next = scene.echo("next");
            let mut peer = scene.script.accept().await;
            answer_echo(&mut peer, "next").await;
            assert_eq!(answer(next).await, "next");
            peer
        };
    }
    let next = scene.echo("after it");
    answer_echo(&mut peer, "after it").await;
    assert_eq!(answer(next).await, "after it");
    scene.is_at_rest().await;
}

async fn c036_an_answer_with_another_name<K: Kind>() {
    let mut scene = Scene::<K>::new();
    let call = scene.echo("hi");
    let mut peer = scene.script.accept().await;
    let id = id(&peer.take_frame().await);
    peer.send(&reply(id, "swap", "to another call")).await;
    let error = error(call).await;
    let kind = error.transport().map(|error| error.kind());
    assert_eq!((kind, error.sent()), (Some(TransportErrorKind::Protocol), Sent::Yes), "{error}");
    assert!(error.to_string().contains("another method"), "{error}");
    scene.is_at_rest().await;
}

async fn c081_a_late_answer_is_nobodys<K: Kind>() {
    for delay in 0..20 {
        let mut scene = Scene::<K>::new();
        let impatient = scene.client.with(once().timeout(Duration::from_millis(50)));
        let call = tokio::spawn(impatient.call::<method::Echo>(&Text::new("one")));
        let mut first = scene.script.accept().await;
        let first_id = id(&first.take_frame().await);
        let error = error(call).await;
        assert_eq!((error.code(), error.sent()), (Code::DeadlineExceeded, Sent::Maybe), "{error}");
        // The next call is under way for so many steps when the late answer comes.
        let next = scene.echo("two");
        let late = reply(first_id, "echo", "one");
        if K::SHARES {
            for _ in 0..delay {
                step().await;
            }
            first.send(&late).await;
            let second_id = id(&first.take_frame().await);
            assert_ne!(first_id, second_id);
            first.send(&reply(second_id, "echo", "two")).await;
        } else {
            let mut second = scene.script.accept().await;
            let second_id = id(&second.take_frame().await);
            assert_ne!(first_id, second_id, "the answer could be taken for the other call's");
            assert_eq!(first.take_rest().await, b"", "the first connection is closed");
            second.send(&reply(second_id, "echo", "two")).await;
        }
        assert_eq!(answer(next).await, "two");
        scene.is_at_rest().await;
    }
}

async fn c086_a_connection_that_is_closed_while_idle<K: Kind>() {
    for reset in [false, true] {
        let mut scene = Scene::<K>::new();
        let call = scene.echo("one");
        let mut peer = scene.script.accept().await;
        answer_echo(&mut peer, "one").await;
        assert_eq!(answer(call).await, "one");
        if reset {
            peer.reset()
        } else {
            drop(peer)
        }
        for _ in 0..10 {
            step().await;
        }
        let call = scene.echo("two");
        let mut peer = scene.script.accept().await;
        answer_echo(&mut peer, "two").await;
        assert_eq!(answer(call).await, "two", "no error surfaces, though nothing is sent twice");
        scene.is_at_rest().await;
    }
}

/// The socket takes no more bytes: calls whose requests are stuck in it end all the same, and so do those behind them.
async fn c091_a_deadline_while_the_peer_does_not_read<K: Kind>() {
    let mut scene = Scene::<K>::over(PipeConfig { capacity: 64, ..PipeConfig::default() });
    let impatient = scene.client.with(once().timeout(Duration::from_millis(50)));
    let stuck = tokio::spawn(impatient.call::<method::Echo>(&Text::new("x".repeat(10_000))));
    let peer = scene.script.accept().await;
    until("the first request is begun", || K::busy(&scene.transport) == 1).await;
    let behind = tokio::spawn(impatient.call::<method::Echo>(&Text::new("behind it")));
    for call in [stuck, behind] {
        let error = error(call).await;
        assert_eq!((error.code(), error.sent()), (Code::DeadlineExceeded, Sent::Maybe), "{error}");
        assert!(matches!(error.stage(), Some(Stage::Send | Stage::Receive)), "{error}");
    }
    scene.is_at_rest().await;
    drop(peer);
}

async fn c091_a_deadline_while_the_peer_does_not_answer<K: Kind>() {
    let mut scene = Scene::<K>::new();
    let impatient = scene.client.with(once().timeout(Duration::from_millis(50)));
    let start = tokio::time::Instant::now();
    let call = tokio::spawn(impatient.call::<method::Echo>(&Text::new("hello?")));
    let mut peer = scene.script.accept().await;
    peer.take_frame().await;
    let error = error(call).await;
    assert_eq!((error.code(), error.stage()), (Code::DeadlineExceeded, Some(Stage::Receive)), "{error}");
    // The clock stands still but for time limits, so this is exact to the timer's millisecond.
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(50) && took <= Duration::from_millis(52), "{took:?}");
    scene.is_at_rest().await;
}

async fn c100_a_deadline_is_one_kind_of_error_wherever_it_passes<K: Kind>() {
    let mut scene = Scene::<K>::new();
    let past = scene.client.with(once().timeout(Duration::ZERO));
    let error = error(tokio::spawn(past.call::<method::Echo>(&Text::new("too late")))).await;
    assert_eq!(error.code(), Code::DeadlineExceeded, "{error}");
    let kind = error.transport().map(|error| error.kind());
    assert_eq!(kind, Some(TransportErrorKind::Deadline), "{error}");
    scene.is_at_rest().await;
    if scene.script.is_dialled() {
        let _ = scene.script.accept().await;
    }
}

async fn an_answer_in_every_split<K: Kind>() {
    let whole = reply(1, "echo", "split");
    for at in 1..whole.len() {
        let mut scene = Scene::<K>::new();
        let call = scene.echo("split");
        let mut peer = scene.script.accept().await;
        peer.take_frame().await;
        peer.send(&whole[..at]).await;
        for _ in 0..5 {
            step().await;
        }
        assert!(!call.is_finished());
        peer.send(&whole[at..]).await;
        assert_eq!(answer(call).await, "split");
        scene.is_at_rest().await;
    }
}

async fn an_answer_that_is_no_message<K: Kind>() {
    let nonsense: [(&[u8], &str); 6] = [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP"),
        (&[0x7f, 0xff, 0xff, 0xff], "too large"),
        (&[0xff, 0xff, 0xff, 0xff], "too large"),
        (&[0, 0, 0, 0], "length 0"),
        (&framed(&[0x80, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0]), "bad version"),
        (&framed(&[0x80, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]), "a request came to a client"),
    ];
    for (bytes, what) in nonsense {
        let mut scene = Scene::<K>::new();
        let call = scene.echo("hi");
        let mut peer = scene.script.accept().await;
        peer.take_frame().await;
        peer.send(bytes).await;
        let error = error(call).await;
        let kind = error.transport().map(|error| error.kind());
        let expected =
            if what == "too large" { TransportErrorKind::TooLarge } else { TransportErrorKind::Protocol };
        assert_eq!(kind, Some(expected), "{error}");
        assert_ne!(error.sent(), Sent::No, "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(peer.take_rest().await, b"", "the connection is closed");
        scene.is_at_rest().await;
    }
}

async fn an_exception_keeps_its_number<K: Kind>() {
    for (number, code) in
        [(1, Code::Unimplemented), (6, Code::Internal), (7, Code::InvalidArgument), (4711, Code::Unknown)]
    {
        let mut scene = Scene::<K>::new();
        let call = scene.echo("hi");
        let mut peer = scene.script.accept().await;
        let id = id(&peer.take_frame().await);
        // The name is another, as some servers write it.
        let mut exception = golden::bytes("80 01 00 03 00 00 00 00");
        exception.extend_from_slice(&id.to_be_bytes());
        exception.extend_from_slice(&golden::bytes("0b 00 01 00 00 00 03 77 68 79 08 00 02"));
        exception.extend_from_slice(&i32::to_be_bytes(number));
        exception.push(0);
        peer.send(&framed(&exception)).await;
        let error = error(call).await;
        let status = error.status().expect("the peer's answer");
        assert_eq!((status.code(), status.wire_code(), status.message()), (code, Some(number), "why"));
        assert_eq!((error.sent(), error.stage()), (Sent::Yes, Some(Stage::Peer)));
        scene.is_at_rest().await;
    }
}
