use std::borrow::Cow;

use rpc_core::{Name, RequestHead};

/// How a client writes the name of a method. msgpack-rpc itself knows no services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameFormat {
    /// `method`: what all peers understand.
    #[default]
    Bare,
    /// `Service.method`, without the service's package.
    ServiceDot,
    /// `pkg.Service/method`.
    FullPath,
}

impl NameFormat {
    pub(super) fn name(self, head: &RequestHead) -> Cow<'_, [u8]> {
        let (service, method) = (head.service.as_bytes(), head.method.as_bytes());
        match self {
            _ if service.is_empty() => Cow::Borrowed(method),
            Self::Bare => Cow::Borrowed(method),
            Self::ServiceDot => {
                let short = service.rsplit(|byte| *byte == b'.').next().unwrap_or(service);
                Cow::Owned([short, b".", method].concat())
            }
            Self::FullPath => Cow::Owned([service, b"/", method].concat()),
        }
    }
}

/// Service and method of a name: apart at the last slash, else at the last dot. A name with nothing on one side is a
/// method's alone.
pub(super) fn split(name: Name) -> (Name, Name) {
    let bytes = name.as_bytes();
    let last = |separator: u8| bytes.iter().rposition(|byte| *byte == separator);
    match last(b'/').or_else(|| last(b'.')) {
        Some(at) if at > 0 && at + 1 < bytes.len() => (name.slice(..at), name.slice(at + 1..)),
        _ => whole(name),
    }
}

/// A name that is the method's alone.
pub(super) fn whole(name: Name) -> (Name, Name) {
    (Name::default(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_split_again() {
        let head = RequestHead {
            service: Name::from_static("hello.Greeter"),
            method: Name::from_static("say"),
            ..RequestHead::default()
        };
        for (format, name, service) in [
            (NameFormat::Bare, "say", ""),
            (NameFormat::ServiceDot, "Greeter.say", "Greeter"),
            (NameFormat::FullPath, "hello.Greeter/say", "hello.Greeter"),
        ] {
            let written = format.name(&head);
            assert_eq!(written, name.as_bytes());
            let split = split(Name::from_bytes(written.into_owned().into()));
            assert_eq!(split, (Name::from_static(service), Name::from_static("say")));
        }
    }

    #[test]
    fn names_with_one_side_empty_are_methods() {
        for name in ["", ".", "/", ".x", "x.", "/x", "x/"] {
            assert_eq!(split(Name::from_static(name)), (Name::default(), Name::from_static(name)), "{name}");
        }
        let nested = split(Name::from_static("a/b.c/d.e"));
        assert_eq!(nested, (Name::from_static("a/b.c"), Name::from_static("d.e")));
    }
}
