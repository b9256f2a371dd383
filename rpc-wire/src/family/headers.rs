use rpc_core::CodecSet;

use crate::message::Header;
use crate::{Detect, FrameError, MessageHeader, Unframed, buffered};

/// A message header that can be one of several on a connection. Every header whose messages need no frame is one.
pub trait Member: MessageHeader {
    /// Where a look for the end of an unframed message stopped; see [`Unframed::Scan`].
    type Scan: Default + Clone + Send + Sync + 'static;

    /// How many bytes the unframed message at the front of `src` has; see [`Unframed::scan`]. Not called where messages
    /// [need a frame](MessageHeader::NEEDS_FRAME).
    ///
    /// # Errors
    /// When it is no such message, when it is too large, and, by default, always.
    fn end(&self, scan: &mut Self::Scan, src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
        let _ = (scan, src, limit);
        Err(FrameError::malformed("such messages stand in frames alone"))
    }
}

impl<H: Unframed> Member for H {
    type Scan = H::Scan;

    fn end(&self, scan: &mut H::Scan, src: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
        buffered::whole(self, scan, src, limit)
    }
}

/// A tuple of message headers, each with its codec. The position in it is the [`CodecId`](rpc_core::CodecId).
pub trait Headers: Clone + Send + Sync + 'static {
    /// The codecs, in the same order.
    type Codecs: CodecSet;
    /// Where looks for the ends of unframed messages stopped.
    type Scans: Default + Clone + Send + Sync + 'static;

    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn get(&self, which: u8) -> Option<&dyn Header>;
    #[doc(hidden)]
    fn end(
        &self,
        which: u8,
        scans: &mut Self::Scans,
        src: &[u8],
        limit: usize,
    ) -> Result<Option<usize>, FrameError>;
    #[doc(hidden)]
    fn codecs(&self) -> Self::Codecs;
}

macro_rules! headers {
    ($(($($header:ident $which:tt),+)),+ $(,)?) => {$(
        #[allow(private_interfaces)]
        impl<$($header: Member),+> Headers for ($($header,)+) {
            type Codecs = ($($header::Codec,)+);
            type Scans = ($($header::Scan,)+);

            fn get(&self, which: u8) -> Option<&dyn Header> {
                match which {
                    $($which => Some(&self.$which),)+
                    _ => None,
                }
            }

            fn end(
                &self,
                which: u8,
                scans: &mut Self::Scans,
                src: &[u8],
                limit: usize,
            ) -> Result<Option<usize>, FrameError> {
                match which {
                    $($which => self.$which.end(&mut scans.$which, src, limit),)+
                    _ => Err(FrameError::malformed("there is no such header")),
                }
            }

            fn codecs(&self) -> Self::Codecs {
                ($(self.$which.codec(),)+)
            }
        }
    )+};
}
headers!((A 0), (A 0, B 1), (A 0, B 1, C 2), (A 0, B 1, C 2, D 3));

/// Which header a message that begins with these bytes has. `None` while so few can not tell.
///
/// # Errors
/// When it has none of them.
pub(super) fn find<Hs: Headers>(
    headers: &Hs,
    first: &[u8],
    may_be: impl Fn(&dyn Header) -> bool,
) -> Result<Option<u8>, Unknown> {
    let mut result = Err(Unknown);
    for (which, header) in (0..).map_while(|which| Some((which, headers.get(which)?))) {
        match header.detect(first) {
            Detect::Yes if may_be(header) => return Ok(Some(which)),
            Detect::NeedMore if may_be(header) => result = Ok(None),
            _ => {}
        }
    }
    result
}

/// No message of the family begins so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unknown;
