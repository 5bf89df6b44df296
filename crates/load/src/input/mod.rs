//! What the user specifies for requests: the requests themselves, templates with variables, feeds that fill them, and
//! checks of the responses. Everything is parsed before any clock runs.

pub(crate) mod check;
pub(crate) mod extract;
pub(crate) mod feed;
pub(crate) mod request;
pub(crate) mod template;
