//! Quotes of separated values. The reader takes any, so that a quote which is not closed would swallow rows.

use crate::error::LoadError;

/// Where in a field, and in its quotes, a byte is.
#[derive(Clone, Copy)]
enum QuoteState {
    Begin,
    Plain,
    /// Inside quotes that begin in this line.
    Quoted(u64),
    /// Behind a quote inside quotes: it closes them, or is the first of two.
    BehindQuote(u64),
}

/// Checks that every quoted field is closed, and ends there (RFC 4180, section 2, rules 5 to 7). Errors name the line.
pub(super) fn check_quotes(name: &str, by: u8, bytes: &[u8]) -> Result<(), LoadError> {
    let mut line = 1;
    let mut state = QuoteState::Begin;
    for byte in bytes {
        state = match (state, *byte) {
            (QuoteState::Begin, b'"') => QuoteState::Quoted(line),
            (QuoteState::Quoted(since), b'"') => QuoteState::BehindQuote(since),
            (QuoteState::BehindQuote(since), b'"') => QuoteState::Quoted(since),
            (QuoteState::Quoted(since), _) => QuoteState::Quoted(since),
            (_, byte) if byte == by || matches!(byte, b'\r' | b'\n') => QuoteState::Begin,
            (QuoteState::BehindQuote(_), _) => return Err(wrong(name, line, "text follows a closing quote")),
            (QuoteState::Begin | QuoteState::Plain, _) => QuoteState::Plain,
        };
        line += u64::from(*byte == b'\n');
    }
    match state {
        QuoteState::Quoted(since) => Err(wrong(name, since, "a quote is opened and not closed")),
        _ => Ok(()),
    }
}

fn wrong(name: &str, line: u64, what: &str) -> LoadError {
    let remedy = "put the whole value in quotes, and write a quote inside it twice";
    LoadError::input(&format!("{name}, line {line}"), what, remedy)
}
