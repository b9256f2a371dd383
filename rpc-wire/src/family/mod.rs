//! All that a Kitex server takes on one port, told apart message by message.
//!
//! - `headers`: the message headers, as a tuple.
//! - `mesh`: the header that a mesh puts in front.

mod headers;
mod mesh;

use std::time::Instant;

use bytes::{Buf, Bytes, BytesMut};
use rpc_core::{CodecId, RequestHead, ResponseHead};

pub use self::headers::{Headers, Member};
use self::headers::{Unknown, find};
use crate::message::{self, Header, Message, Naming};
use crate::ttheader::{Layer, read_mesh};
use crate::{
    Detect, Frame, FrameError, Framing, MessageMirror, Order, TtHeaderConfig, TtHeaderMirror, WriteBuf,
    framed, ttheader,
};

/// Messages of a family, each in its own framing and codec; the answer is in those of its request.
///
/// What a message is shows in its first bytes, and no more of them are waited for than it takes:
///
/// | bytes | what it is |
/// |---|---|
/// | `….… …. 10 00` | TTHeader; behind it a message, framed or not |
/// | `….… …. ` and a message's first bytes | a framed message |
/// | a message's first bytes | an unframed message, if its header allows that |
/// | `ff af` | the header of a mesh; behind it a message, framed or not |
///
/// Which message it is, its header knows: `80 01` for Thrift binary, `82` for compact, `90 01` for Kitex-Protobuf. A frame's
/// length is taken for one when it begins with 0 or 1, so frames have up to 32 MiB.
///
/// A client speaks the codec that the request's head names, in the framing that [`speaks`](Self::speaks) says.
///
/// Source: `wire/thrift.md` §11.
#[derive(Clone, Debug, Default)]
pub struct Family<Hs: Headers> {
    headers: Hs,
    scans: Hs::Scans,
    layer: Layer,
    speaks: Speaks,
    /// The last message had a TTHeader.
    headed: bool,
}

/// In which framing the clients of a [`Family`] call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speaks {
    /// TTHeader, which carries all that a head says.
    #[default]
    TtHeader,
    /// Frames.
    Framed,
    /// Messages one behind the other.
    Buffered,
}

/// What an answer to a message of a [`Family`] repeats.
#[derive(Clone, Debug)]
pub struct FamilyMirror {
    which: u8,
    to: To,
}

#[derive(Clone, Debug)]
enum To {
    TtHeader(TtHeaderMirror),
    Framed(MessageMirror),
    Buffered(MessageMirror),
}

/// What stands around a message, and which header the message has, where that is known from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    TtHeader,
    Frame(u8),
    Nothing(u8),
}

impl<Hs: Headers> Family<Hs> {
    /// The family of messages with these headers.
    pub fn new(headers: Hs) -> Self {
        let (scans, layer, speaks) = (Hs::Scans::default(), Layer::default(), Speaks::default());
        Self { headers, scans, layer, speaks, headed: false }
    }

    /// The same with another configuration of TTHeader.
    #[must_use]
    pub fn with(mut self, config: TtHeaderConfig) -> Self {
        self.layer.config = config;
        self
    }

    /// The same, but clients call in another framing.
    #[must_use]
    pub fn speaks(mut self, speaks: Speaks) -> Self {
        self.speaks = speaks;
        self
    }

    fn header(&self, which: u8) -> Result<&dyn Header, FrameError> {
        let missing = || FrameError::Unsupported(format!("the family has no codec {which}").into());
        self.headers.get(which).ok_or_else(missing)
    }

    /// What begins with these bytes; `None` while so few can not tell.
    fn around(&self, first: &[u8]) -> Result<Option<Around>, Unknown> {
        // The limit is not looked at here; 0 and 1 are the first bytes of lengths up to 32 MiB.
        if let Some(0 | 1) = first.first() {
            let Some(inner @ [_, ..]) = first.get(framed::PREFIX..) else { return Ok(None) };
            match inner {
                [high] if *high == ttheader::MAGIC[0] => return Ok(None),
                _ if inner.starts_with(&ttheader::MAGIC) => return Ok(Some(Around::TtHeader)),
                _ => {}
            }
            // An old Thrift message begins with a length too, that of its name.
            if let Ok(found) = find(&self.headers, inner, |_| true) {
                return Ok(found.map(Around::Frame));
            }
        }
        let found = find(&self.headers, first, |header| !header.needs_frame())?;
        Ok(found.map(Around::Nothing))
    }

    /// Reads a message that is whole, in a frame or in none, behind what a mesh put there.
    fn read(
        &self,
        which: u8,
        mesh: &Bytes,
        message: Bytes,
        to: impl FnOnce(MessageMirror) -> To,
    ) -> Result<Frame<FamilyMirror>, FrameError> {
        let mirror = |mirror| FamilyMirror { which, to: to(mirror) };
        let mut frame = message::read(self.header(which)?, message, mirror)?;
        if let Frame::Request { head, .. } = &mut frame {
            head.codec = CodecId(which);
            if !mesh.is_empty() {
                read_mesh(mesh, head)?;
            }
        }
        Ok(frame)
    }
}

impl<Hs: Headers> Framing for Family<Hs> {
    type Codecs = Hs::Codecs;
    type Mirror = FamilyMirror;
    const ORDER: Order = Order::ById;
    /// That of frames; unframed messages may be larger by as much.
    const PREFIX: usize = framed::PREFIX;
    const TIMED: bool = true;

    fn name(&self) -> &'static str {
        "thrift family"
    }

    fn encode_request(
        &self,
        id: u32,
        head: &RequestHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        let header = self.header(head.codec.0)?;
        match self.speaks {
            Speaks::TtHeader => self.layer.put_request(header, id, head, body, dst),
            Speaks::Framed => framed::put(header, &Message::request(id, head, Naming::Bare, body)?, dst),
            Speaks::Buffered if header.needs_frame() => {
                Err(FrameError::Unsupported("such messages stand in frames alone".into()))
            }
            Speaks::Buffered => {
                Message::request(id, head, Naming::Bare, body)?.put(header, dst);
                Ok(())
            }
        }
    }

    fn encode_response(
        &self,
        to: &FamilyMirror,
        head: &ResponseHead,
        body: &Bytes,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        if head.silent {
            return Ok(());
        }
        let header = self.header(to.which)?;
        match &to.to {
            To::TtHeader(to) => self.layer.put_answer(header, to, head, body, dst),
            To::Framed(to) => framed::put(header, &Message::answer(header, to, head, body), dst),
            To::Buffered(to) => {
                Message::answer(header, to, head, body).put(header, dst);
                Ok(())
            }
        }
    }

    fn decode(
        &mut self,
        src: &mut BytesMut,
        limit: usize,
    ) -> Result<Option<Frame<FamilyMirror>>, FrameError> {
        let unknown = |_| unknown(src);
        let Some(before) = mesh::len(src).map_err(unknown)? else { return Ok(None) };
        let Some(rest) = src.get(before..) else { return Ok(None) };
        let Some(around) = self.around(rest).map_err(unknown)? else { return Ok(None) };
        let len = match around {
            Around::TtHeader if before > 0 => {
                return Err(FrameError::malformed("ttheader behind a mesh header"));
            }
            Around::TtHeader => ttheader::whole(rest, limit)?,
            Around::Frame(_) => framed::whole(rest, limit)?,
            Around::Nothing(which) => self.headers.end(which, &mut self.scans, rest, limit)?,
        };
        let Some(len) = len else { return Ok(None) };
        self.headed = around == Around::TtHeader;
        let mut whole = src.split_to(before + len).freeze();
        let mesh = whole.split_to(before);
        match around {
            Around::TtHeader => {
                let headers = &self.headers;
                let which = |first: &[u8]| {
                    let which = find(headers, first, |_| true).ok()??;
                    Some((which, headers.get(which)?))
                };
                let frame = self.layer.read(whole, which)?;
                let known =
                    |mirror: TtHeaderMirror| FamilyMirror { which: mirror.which(), to: To::TtHeader(mirror) };
                let mut frame = frame.map(known);
                if let Frame::Request { head, mirror, .. } = &mut frame {
                    head.codec = CodecId(mirror.which);
                }
                Ok(Some(frame))
            }
            Around::Frame(which) => {
                whole.advance(framed::PREFIX);
                self.read(which, &mesh, whole, To::Framed).map(Some)
            }
            Around::Nothing(which) => self.read(which, &mesh, whole, To::Buffered).map(Some),
        }
    }

    fn set_time(&mut self, now: Instant) {
        self.layer.set_time(now);
    }

    fn one_at_a_time(&mut self) {
        self.layer.config.out_of_order = false;
    }

    fn go_away(&mut self, dst: &mut WriteBuf) {
        self.layer.go_away(dst);
    }

    /// Where there is a header, there is a word for it.
    fn says_that_it_goes(&self) -> bool {
        self.headed
    }

    fn detect(&self, first: &[u8]) -> Detect {
        if first.starts_with(&mesh::MAGIC) {
            return Detect::Yes;
        }
        match mesh::len(first) {
            Err(Unknown) => Detect::No,
            Ok(None) => Detect::NeedMore,
            Ok(Some(_)) => match self.around(first) {
                Err(Unknown) => Detect::No,
                Ok(None) => Detect::NeedMore,
                Ok(Some(_)) => Detect::Yes,
            },
        }
    }

    fn codecs(&self) -> Hs::Codecs {
        self.headers.codecs()
    }
}

#[cold]
fn unknown(src: &[u8]) -> FrameError {
    let first = src.get(..8).unwrap_or(src);
    FrameError::malformed(format!("no message of the family begins with {first:02x?}"))
}

#[cfg(test)]
mod tests;
