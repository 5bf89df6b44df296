//! Why stacks could not be read or written.

#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("line {line} is no collapsed stack (\"{start}\"); each must be frames joined by ; and then a number")]
    Line { line: usize, start: String },
    #[error("it holds no samples: did the program do anything while it was profiled?")]
    Empty,
    #[error("cannot draw the flame graph: {0}")]
    Drawing(String),
    #[error("cannot write the profile as pprof: {0}; please report this")]
    Pprof(String),
}
