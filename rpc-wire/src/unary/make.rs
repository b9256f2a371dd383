use crate::{CallId, Detect, Framing, Limits, MakeProtocol, Order, Unary};

impl<F: Framing> MakeProtocol for F {
    type Protocol = Unary<F>;
    type Codecs = F::Codecs;

    fn name(&self) -> &'static str {
        Framing::name(self)
    }

    fn client(&self, limits: &Limits, first_id: CallId) -> Unary<F> {
        Unary::client(self.clone(), limits.clone(), first_id)
    }

    fn server(&self, limits: &Limits) -> Unary<F> {
        Unary::server(self.clone(), limits.clone())
    }

    fn detect(&self, first: &[u8]) -> Detect {
        Framing::detect(self, first)
    }

    fn codecs(&self) -> F::Codecs {
        Framing::codecs(self)
    }

    fn multiplexes(&self) -> bool {
        F::ORDER == Order::ById
    }

    fn is_symmetric(&self) -> bool {
        F::SYMMETRIC
    }
}
