//! The outcome of an answer, in the form of the tables: the status, the bytes of the body, and what is left.

use tare_wire::http::{Head, ParseError, Progress, ResponseParser, Sink};

#[derive(Default)]
struct Seen {
    status: u16,
    body: Vec<u8>,
}

impl Sink for Seen {
    fn head(&mut self, head: &Head<'_>) {
        self.status = head.status;
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// Feeds pieces and then the end of the stream. Returns the outcome as in the table, and the body.
pub fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, is_head_request: bool) -> (String, Vec<u8>) {
    let mut parser = ResponseParser::new();
    parser.expect_response(is_head_request);
    let mut seen = Seen::default();
    let mut pieces = pieces.into_iter();
    while let Some(piece) = pieces.next() {
        match parser.feed(piece, &mut seen) {
            Ok(Progress::NeedsMore) => {}
            Ok(Progress::Complete { consumed, keeps_alive }) => {
                let left = piece.len() - consumed + pieces.map(<[u8]>::len).sum::<usize>();
                let (fate, left) = (
                    if keeps_alive { "keep" } else { "close" },
                    if left > 0 { format!("+{left}") } else { String::new() },
                );
                return (format!("{} {} {fate}{left}", seen.status, seen.body.len()), seen.body);
            }
            Err(error) => return (name(error), Vec::new()),
        }
    }
    match parser.finish_stream() {
        Ok(()) => (format!("{} {} eof", seen.status, seen.body.len()), seen.body),
        Err(error) => (name(error), Vec::new()),
    }
}

/// The name of the variant, without its values.
fn name(error: ParseError) -> String {
    let name = format!("error {error:?}");
    name.split('(').next().unwrap_or_default().to_owned()
}
