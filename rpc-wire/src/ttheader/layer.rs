use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rpc_core::{RequestHead, ResponseHead};

use super::heading::{self, AnswerHeading};
use super::info::InfoWriter;
use super::packet::{self, Packet};
use super::payload::Opened;
use super::{Payload, TtHeaderConfig, control, crc};
use crate::message::{self, Header, Message, Naming};
use crate::{Frame, FrameError, MessageMirror, WriteBuf};

/// What an answer behind a TTHeader repeats of its request.
#[derive(Clone, Debug)]
pub struct TtHeaderMirror {
    message: MessageMirror,
    /// Which of a list of headers the message had.
    which: u8,
    payload: Payload,
    checksum: bool,
}

/// One connection's TTHeader, around messages with whatever header.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) config: TtHeaderConfig,
    /// What the driver said last.
    now: Option<Instant>,
    /// The client can be told things that it did not ask for.
    peer_multiplexes: bool,
    going_away: GoingAway,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum GoingAway {
    #[default]
    No,
    /// Each answer says so.
    OnAnswers,
    /// The client was told.
    Told,
}

/// Answers may come in any order, and control packets between them.
const OUT_OF_ORDER: u16 = 0x0001;
/// The packet is part of a stream, in a protocol of its own.
const STREAMING: u16 = 0x0002;

impl TtHeaderMirror {
    /// Which of a list of headers the message had.
    pub(crate) fn which(&self) -> u8 {
        self.which
    }
}

impl Layer {
    pub(crate) fn set_time(&mut self, now: Instant) {
        self.now = Some(now);
    }

    pub(crate) fn go_away(&mut self, dst: &mut WriteBuf) {
        self.going_away = if self.peer_multiplexes {
            dst.put_slice(control::GOING_AWAY);
            GoingAway::Told
        } else {
            GoingAway::OnAnswers
        };
    }

    /// Appends a request.
    ///
    /// # Errors
    /// When the head has no representation.
    pub(crate) fn put_request<H: Header + ?Sized>(
        &self,
        header: &H,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        let message = Message::request(id, head, Naming::Bare, body)?;
        let flags = if self.config.out_of_order { OUT_OF_ORDER } else { 0 };
        let remaining =
            head.deadline.zip(self.now).map(|(deadline, now)| deadline.saturating_duration_since(now));
        let TtHeaderConfig { payload, checksum, .. } = self.config;
        put(header, &message, payload, checksum, flags, dst, |checksum, info| {
            heading::put_request(head, message.kind, &self.config, remaining, checksum, info)
        })
    }

    /// Appends an answer.
    ///
    /// # Errors
    /// When the head has no representation.
    pub(crate) fn put_answer<H: Header + ?Sized>(
        &self,
        header: &H,
        to: &TtHeaderMirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        let message = match &head.status {
            Err(status) if status.business_code().is_some() => Message::empty_answer(header, &to.message),
            _ => Message::answer(header, &to.message, head, body),
        };
        let checksum = self.config.checksum || to.checksum;
        let closing = self.going_away == GoingAway::OnAnswers;
        put(header, &message, to.payload, checksum, 0, dst, |checksum, info| {
            heading::put_answer(head, message.kind, &self.config, closing, checksum, info)
        })
    }

    /// Reads a packet that is whole. `which` knows the header of its message by its first bytes, and says which of a list it is.
    ///
    /// # Errors
    /// When it is not well formed.
    pub(crate) fn read<'a, H: Header + ?Sized + 'a>(
        &mut self,
        packet: Bytes,
        which: impl Fn(&[u8]) -> Option<(u8, &'a H)>,
    ) -> Result<Frame<TtHeaderMirror>, FrameError> {
        let packet = Packet::open(packet)?;
        let (flags, outer_id) = (packet.flags, packet.id);
        if flags & STREAMING != 0 {
            return Err(FrameError::malformed("ttheader: a stream came where calls are spoken"));
        }
        // Its payload is in Thrift binary, whatever the others are in.
        if outer_id == control::ID && AnswerHeading::read(&packet)?.closing {
            return Ok(Frame::GoAway);
        }
        let Opened { form, found: (which, of), message } = Payload::open(packet.payload(), which)?;
        let message = packet.whole().slice_ref(message);
        let verify = |said: Option<&[u8]>| said.map_or(Ok(()), |said| crc::check(packet.payload(), said));
        let mirror = |message| TtHeaderMirror { message, which, payload: form, checksum: false };
        // A frame is large: it is changed where it stands.
        let mut frame = message::read(of, message, mirror)?;
        match &mut frame {
            Frame::Request { head, mirror, .. } => {
                let said = heading::read_request(&packet, head, self.now)?;
                verify(said)?;
                mirror.checksum = said.is_some();
                self.peer_multiplexes |= flags & OUT_OF_ORDER != 0;
            }
            Frame::Refused { mirror, .. } => {
                let said = heading::read_request(&packet, &mut RequestHead::default(), None)?;
                verify(said)?;
                mirror.checksum = said.is_some();
            }
            Frame::Response { id, head, body, .. } => {
                // A proxy that fails a call itself may not have its id in the message.
                *id = id.filter(|id| *id != control::ID || head.status.is_ok()).or(Some(outer_id));
                let nobodys = *id == Some(control::ID) && head.status.is_ok();
                let heading = AnswerHeading::read(&packet)?;
                verify(heading.checksum)?;
                if nobodys {
                    return Ok(Frame::Ignored); // no call has that id
                }
                if let Some(status) = heading.failure {
                    head.status = Err(status);
                    *body = Bytes::new();
                }
                head.metadata = heading.metadata;
                if heading.closing {
                    return Ok(Frame::Last(Box::new(frame)));
                }
            }
            // A message is none of these.
            Frame::GoAway | Frame::Ignored | Frame::Last(_) => frame = Frame::Ignored,
        }
        Ok(frame)
    }
}

/// Appends a packet around a message.
fn put<H: Header + ?Sized>(
    header: &H,
    message: &Message<'_>,
    payload: Payload,
    checksum: bool,
    flags: u16,
    dst: &mut WriteBuf,
    heading: impl FnOnce(Option<&str>, &mut InfoWriter<'_>) -> Result<(), FrameError>,
) -> Result<(), FrameError> {
    let len = payload.len(header, message);
    if !checksum {
        packet::put(flags, message.id, len, dst, |dst| info(dst, |info| heading(None, info)))?;
        return payload.put(header, message, dst);
    }
    // The header, which stands in front, has to say what the payload is.
    let mut bytes = WriteBuf::new();
    payload.put(header, message, &mut bytes)?;
    let checksum = crc::of(&bytes);
    packet::put(flags, message.id, len, dst, |dst| info(dst, |info| heading(Some(&checksum), info)))?;
    bytes.move_into(dst);
    Ok(())
}

fn info(
    dst: &mut BytesMut,
    heading: impl FnOnce(&mut InfoWriter<'_>) -> Result<(), FrameError>,
) -> Result<(), FrameError> {
    let mut info = InfoWriter::begin(dst);
    heading(&mut info)?;
    info.finish();
    Ok(())
}
