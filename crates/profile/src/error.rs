//! Why stacks could not be read or written.

/// What is wrong with a profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// A line is not a collapsed stack.
    #[error("line {line} is no collapsed stack (\"{start}\"); each must be frames joined by ; and then a number")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Its beginning.
        start: String,
    },
    /// The profile has no samples.
    #[error("it holds no samples: did the program do anything while it was profiled?")]
    Empty,
    /// The drawing could not be made.
    #[error("cannot draw the flame graph: {0}")]
    Drawing(String),
    /// A format could not be written.
    #[error("cannot write the profile as {form}: {reason}; please report this")]
    Export {
        /// The format.
        form: &'static str,
        /// The reason.
        reason: String,
    },
}
