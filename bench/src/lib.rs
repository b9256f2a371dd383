//! Every codec and transport against tonic
