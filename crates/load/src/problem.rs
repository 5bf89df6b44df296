//! Why a request or a connection failed.

use crate::sample::ErrorClass;

/// Why one request failed: the class, and a text that the report shows for the first failure of the class.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) class: ErrorClass,
    pub(crate) text: String,
}

impl Problem {
    pub(crate) fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self { class, text: text.into() }
    }
}
