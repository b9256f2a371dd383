//! What is echoed: bytes that differ in every call, so that a reply which went to the wrong caller is noticed.

use crate::stats::rng::SplitMix64;
use crate::system::{Echo, Reply};

/// The largest body that can be asked for.
pub const LARGEST_BODY: usize = 16 << 20;
/// The first field of every request.
pub const ACTION: &str = "echo";

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const HEX: &str = "0123456789abcdef";
const CLIENT_DIGITS: usize = 4;
const ID_DIGITS: usize = 16;

/// `len` printable bytes that hardly compress; the same for the same seed.
pub fn body(seed: u64, len: usize) -> String {
    let mut rng = SplitMix64::new(seed);
    (0..len).map(|_| char::from(ALPHABET[usize::try_from(rng.next_u64() >> 58).unwrap_or(0)])).collect()
}

/// What a reply turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Byte for byte what was sent.
    Right,
    /// The answer to another virtual client's call.
    Swapped,
    /// The answer to an earlier call of this client.
    Duplicate,
    /// Anything else.
    Corrupt,
}

/// How much of the replies is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Every byte of every reply.
    Full,
    /// Every byte of one reply in so many.
    Sample(u64),
    /// Nothing.
    Off,
}

/// The request of one virtual client, made once; each call only writes its id into the front.
///
/// The id is the client's number in four hex digits, then the call's in twelve. A body shorter than that keeps the
/// client's digits and as many low digits of the call as fit.
#[derive(Debug)]
pub struct Template {
    msg: String,
    sequence: u64,
    verify: Verify,
}

impl Template {
    /// The template of client number `client`.
    pub fn new(seed: u64, client: u16, len: usize, verify: Verify) -> Self {
        let msg = body(seed.wrapping_add(u64::from(client)), len);
        let mut template = Self { msg, sequence: 0, verify };
        let digits = template.digits();
        let client = format!("{client:04x}");
        template.msg.replace_range(..digits, &format!("{client}{:012}", 0)[..digits]);
        template
    }

    /// Makes the next request.
    pub fn advance(&mut self) {
        self.sequence += 1;
        // Of the sixteen digits only the last one changes, as a rule; this runs in front of every call.
        let mut rest = self.sequence;
        for place in (CLIENT_DIGITS..self.digits()).rev() {
            let digit = usize::try_from(rest & 15).unwrap_or(0);
            self.msg.replace_range(place..=place, &HEX[digit..=digit]);
            if digit != 0 {
                break;
            }
            rest >>= 4;
        }
    }

    /// The request as it stands.
    pub fn request(&self) -> Echo<'_> {
        Echo { action: ACTION, msg: &self.msg }
    }

    /// Compares a reply with the request.
    pub fn check<R: Reply>(&self, reply: &R) -> Outcome {
        let looked_at = match self.verify {
            Verify::Full => true,
            Verify::Sample(every) => self.sequence.is_multiple_of(every),
            Verify::Off => false,
        };
        if !looked_at || (reply.msg() == self.msg.as_bytes() && reply.action() == ACTION.as_bytes()) {
            return Outcome::Right;
        }
        self.diagnose(reply.msg())
    }

    fn diagnose(&self, got: &[u8]) -> Outcome {
        let digits = self.digits();
        let (Some(id), true) = (got.get(..digits), got.len() == self.msg.len()) else {
            return Outcome::Corrupt;
        };
        if !id.iter().all(|digit| HEX.as_bytes().contains(digit)) {
            return Outcome::Corrupt;
        }
        let own = self.msg.as_bytes();
        let client = digits.min(CLIENT_DIGITS);
        if id[..client] != own[..client] {
            Outcome::Swapped
        } else if id < &own[..digits] {
            // Same client, lower number: hex digits of equal length compare like the numbers.
            Outcome::Duplicate
        } else {
            Outcome::Corrupt
        }
    }

    /// Digits of the id that the body has room for.
    fn digits(&self) -> usize {
        self.msg.len().min(ID_DIGITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(Vec<u8>);

    impl Reply for Bytes {
        fn action(&self) -> &[u8] {
            ACTION.as_bytes()
        }
        fn msg(&self) -> &[u8] {
            &self.0
        }
    }

    fn reply(template: &Template) -> Bytes {
        Bytes(template.request().msg.as_bytes().to_vec())
    }

    #[test]
    fn the_body_of_seed_42() {
        assert_eq!(body(42, 32), "vKRWC3NzVnNfghqNGfFs9EmnERvy8sy1");
        assert_eq!(body(42, 0), "");
    }

    #[test]
    fn ids_lead_the_body() {
        let mut template = Template::new(42, 0x1a2b, 32, Verify::Full);
        assert_eq!(template.request().msg, format!("1a2b000000000000{}", &body(42 + 0x1a2b, 32)[16..]));
        for call in 1..=0x1234 {
            template.advance();
            assert_eq!(&template.request().msg[..16], format!("1a2b{call:012x}"));
        }
        let mut short = Template::new(42, 0x1a2b, 6, Verify::Full);
        (0..0x1ff).for_each(|_| short.advance());
        assert_eq!(short.request().msg, "1a2bff");
        assert_eq!(Template::new(42, 0x1a2b, 2, Verify::Full).request().msg, "1a");
        assert_eq!(Template::new(42, 7, 0, Verify::Full).request().msg, "");
    }

    #[test]
    fn each_outcome() {
        let mut template = Template::new(1, 3, 64, Verify::Full);
        let earlier = reply(&template);
        template.advance();
        assert_eq!(template.check(&reply(&template)), Outcome::Right);
        assert_eq!(template.check(&earlier), Outcome::Duplicate);
        let mut other = Template::new(1, 4, 64, Verify::Full);
        other.advance();
        assert_eq!(template.check(&reply(&other)), Outcome::Swapped);
        let mut flipped = reply(&template);
        flipped.0[40] ^= 1;
        assert_eq!(template.check(&flipped), Outcome::Corrupt);
        let mut cut = reply(&template);
        cut.0.pop();
        assert_eq!(template.check(&cut), Outcome::Corrupt);
        assert_eq!(template.check(&Bytes(Vec::new())), Outcome::Corrupt);
    }

    #[test]
    fn less_verification() {
        let mut sampled = Template::new(1, 3, 64, Verify::Sample(2));
        sampled.advance();
        assert_eq!(sampled.check(&Bytes(Vec::new())), Outcome::Right);
        sampled.advance();
        assert_eq!(sampled.check(&Bytes(Vec::new())), Outcome::Corrupt);
        assert_eq!(Template::new(1, 3, 64, Verify::Off).check(&Bytes(Vec::new())), Outcome::Right);
    }
}
