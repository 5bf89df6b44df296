//! Why stacks could not be read or written.

/// What is the matter with a profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// A line is no collapsed stack.
    #[error("line {line} is no collapsed stack (\"{start}\"); each must be frames joined by ; and then a number")]
    Line {
        /// 1-based.
        line: usize,
        /// Its beginning.
        start: String,
    },
    /// There is nothing in it.
    #[error("it holds no samples: did the program do anything while it was profiled?")]
    Empty,
    /// The drawing could not be made.
    #[error("cannot draw the flame graph: {0}")]
    Drawing(String),
    /// A form could not be written.
    #[error("cannot write the profile as {form}: {reason}; please report this")]
    Export {
        /// Which form.
        form: &'static str,
        /// Why.
        reason: String,
    },
}
