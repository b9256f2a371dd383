use super::Payload;
use crate::framed;
use crate::message::{Header, Message, checked_len};
use crate::{FrameError, WriteBuf};

/// What a payload turned out to be.
pub(super) struct Opened<'a, 'b, H: ?Sized> {
    pub(super) form: Payload,
    /// Which of a list the message's header is, and that header.
    pub(super) found: (u8, &'a H),
    pub(super) message: &'b [u8],
}

impl Payload {
    /// Finds out which it is by its first bytes, and takes the frame off. `which` knows a message's header by its first
    /// bytes, and says which of a list it is.
    ///
    /// # Errors
    /// When it is neither, and when the frame does not fill the payload.
    pub(super) fn open<'a, 'b, H: Header + ?Sized>(
        payload: &'b [u8],
        which: impl Fn(&[u8]) -> Option<(u8, &'a H)>,
    ) -> Result<Opened<'a, 'b, H>, FrameError> {
        if let Some(found) = which(payload).filter(|(_, header)| !header.needs_frame()) {
            return Ok(Opened { form: Self::Bare, found, message: payload });
        }
        let framed = payload.split_first_chunk::<{ framed::PREFIX }>();
        match framed.and_then(|(len, rest)| Some((u32::from_be_bytes(*len), rest, which(rest)?))) {
            Some((claimed, rest, found)) if usize::try_from(claimed) == Ok(rest.len()) => {
                Ok(Opened { form: Self::Framed, found, message: rest })
            }
            Some((claimed, rest, _)) => Err(FrameError::malformed(format!(
                "ttheader: a frame of {claimed} bytes in the place of {}",
                rest.len()
            ))),
            None => {
                let first = payload.get(..8).unwrap_or(payload);
                Err(FrameError::malformed(format!("ttheader: no message begins with {first:02x?}")))
            }
        }
    }

    /// How many bytes [`put`](Self::put) appends.
    pub(super) fn len<H: Header + ?Sized>(self, header: &H, message: &Message<'_>) -> usize {
        let frame = if self == Self::Framed { framed::PREFIX } else { 0 };
        frame + message.len(header)
    }

    pub(super) fn put<H: Header + ?Sized>(
        self,
        header: &H,
        message: &Message<'_>,
        dst: &mut WriteBuf,
    ) -> Result<(), FrameError> {
        match self {
            Self::Framed => framed::put(header, message, dst),
            Self::Bare if header.needs_frame() => {
                Err(FrameError::Unsupported("such messages stand in frames alone".into()))
            }
            Self::Bare => {
                checked_len(message.len(header))?;
                message.put(header, dst);
                Ok(())
            }
        }
    }
}
