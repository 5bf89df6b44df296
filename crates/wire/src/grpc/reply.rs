//! The answer to a unary call: one message, and a status in the trailers or, without a message, in the headers.

use percent_encoding::percent_decode;

use super::message::MessageReader;
use super::{Code, is_content_type};

/// Letters of a server's text that an error quotes.
const SHOWN_LETTERS: usize = 200;

/// What is wrong with the answer to a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The call ended with another status than the expected one.
    #[error("grpc-status {found} instead of {wanted}{}", quoted(.message))]
    Status { found: Code, wanted: Code, message: String },
    /// It is not one whole message with a status, in words.
    #[error("{0}")]
    Malformed(String),
}

const NO_STATUS: &str = "the answer has no grpc-status, neither in its trailers nor, without a body, in its headers; \
                         is this a server of gRPC?";

fn quoted(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": \"{message}\"") }
}

/// The part of an answer that has come.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    reader: MessageReader,
    status: Option<(Code, String)>,
    /// What is wrong with all that has come, whatever follows.
    error: Option<String>,
}

impl Reply {
    /// Takes the headers, by name in lower case.
    pub fn take_headers<'a>(&mut self, value: impl Fn(&str) -> Option<&'a [u8]>) {
        self.take_trailers(&value);
        match value("content-type") {
            Some(text) if is_content_type(&String::from_utf8_lossy(text)) => {}
            other => {
                let text = other.map_or_else(|| "is absent".to_owned(), |text| format!("\"{}\"", shown(text)));
                let what = format!("content-type {text} instead of application/grpc; is this a server of gRPC?");
                self.error = Some(what);
            }
        }
    }

    /// Takes bytes of the body, and returns the part of the message among them.
    pub fn take_body<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if !bytes.is_empty() {
            // Only an answer without a body has its status in the headers.
            self.status = None;
        }
        if self.error.is_some() {
            return &[];
        }
        self.reader.take(bytes).unwrap_or_else(|error| {
            self.error = Some(error);
            &[]
        })
    }

    /// Takes the trailers, by name in lower case.
    pub fn take_trailers<'a>(&mut self, value: impl Fn(&str) -> Option<&'a [u8]>) {
        let Some(code) = value("grpc-status") else { return };
        let digits = std::str::from_utf8(code).ok().filter(|code| code.bytes().all(|byte| byte.is_ascii_digit()));
        match digits.and_then(|code| code.parse().ok()) {
            Some(code) => {
                let message = percent_decode(value("grpc-message").unwrap_or_default());
                self.status = Some((Code(code), shown(&message.collect::<Vec<u8>>())));
            }
            None => self.error = Some(format!("grpc-status \"{}\" is no number", shown(code))),
        }
    }

    /// Whether the answer is wrong already and need not be read to its end.
    pub fn is_wrong(&self) -> bool {
        self.error.is_some()
    }

    /// What is wrong with the answer as far as it has come; at its end, with the whole. Fails when it does not have the
    /// wanted status, or not one whole message where that is OK.
    pub fn check(&self, wanted: Code) -> Result<(), ReplyError> {
        // A status says more than what is wrong with the bytes before it.
        match (&self.status, &self.error) {
            (Some((found, message)), _) if *found != wanted => {
                Err(ReplyError::Status { found: *found, wanted, message: message.clone() })
            }
            (_, Some(error)) => Err(ReplyError::Malformed(error.clone())),
            (None, None) => Err(ReplyError::Malformed(NO_STATUS.to_owned())),
            (Some((Code::OK, _)), None) => self.reader.finish().map_err(ReplyError::Malformed),
            (Some(_), None) => Ok(()),
        }
    }
}

/// Text of a server without control characters, of bounded length.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut letters = text.chars();
    let begin: Vec<char> = letters.by_ref().take(SHOWN_LETTERS).collect();
    let ellipsis = if letters.next().is_some() { "…" } else { "" };
    let printable = |char: char| if char.is_control() { char.escape_default().collect() } else { vec![char] };
    begin.into_iter().flat_map(printable).collect::<String>() + ellipsis
}

#[cfg(test)]
mod tests {
    use super::super::frame;
    use super::*;

    type Fields<'a> = &'a [(&'a str, &'a str)];

    const GRPC: (&str, &str) = ("content-type", "application/grpc");

    fn value<'a>(fields: Fields<'a>) -> impl Fn(&str) -> Option<&'a [u8]> {
        move |name| fields.iter().find(|(is, _)| *is == name).map(|(_, value)| value.as_bytes())
    }

    fn told(headers: Fields<'_>, body: &[u8], trailers: Fields<'_>, wanted: Code) -> String {
        let mut reply = Reply::default();
        reply.take_headers(value(headers));
        reply.take_body(body);
        reply.take_trailers(value(trailers));
        reply.check(wanted).map_or_else(|error| error.to_string(), |()| "right".to_owned())
    }

    #[test]
    fn an_answer_needs_its_message_and_its_status() {
        let one = frame(b"hello");
        let ok = &[("grpc-status", "0")][..];
        let denied = &[("grpc-status", "7"), ("grpc-message", "not%20you, 100%25%0A")][..];
        let compressed = [1, 0, 0, 0, 0];
        for (headers, body, trailers, wanted, expected) in [
            (&[GRPC][..], &one[..], ok, Code::OK, "right"),
            (&[GRPC], &one, denied, Code::OK, "grpc-status 7 PERMISSION_DENIED instead of 0 OK: \"not you, 100%\\n\""),
            (&[GRPC], b"", denied, Code(7), "right"),
            (&[GRPC, denied[0], denied[1]], b"", &[], Code(7), "right"),
            (&[GRPC, denied[0]], b"", &[], Code::OK, "grpc-status 7 PERMISSION_DENIED instead of 0 OK"),
            (&[GRPC], &one, ok, Code(5), "grpc-status 0 OK instead of 5 NOT_FOUND"),
            (&[GRPC], &one, &[], Code::OK, "the answer has no grpc-status, neither in"),
            (&[GRPC, ok[0]], &one, &[], Code::OK, "the answer has no grpc-status, neither in"),
            (&[GRPC, denied[0]], &one, ok, Code::OK, "right"),
            (&[GRPC], b"", ok, Code::OK, "the status is OK, and no message came"),
            (&[GRPC], &compressed, ok, Code::OK, "the message is compressed, although no compressed one can be read;"),
            (&[GRPC], &compressed, denied, Code::OK, "grpc-status 7 PERMISSION_DENIED instead of 0 OK"),
            (&[GRPC], &one, &[("grpc-status", "ok")], Code::OK, "grpc-status \"ok\" is no number"),
            (&[GRPC], &one, &[("grpc-status", "+0")], Code::OK, "grpc-status \"+0\" is no number"),
            (&[("content-type", "text/html")], b"<html>", &[], Code::OK, "content-type \"text/html\" instead of app"),
            (&[], b"", &[], Code::OK, "content-type is absent instead of application/grpc"),
            (denied, b"", &[], Code::OK, "grpc-status 7 PERMISSION_DENIED instead of 0 OK: \"not you"),
            (denied, b"", &[], Code(7), "content-type is absent instead of application/grpc"),
        ] {
            let told = told(headers, body, trailers, wanted);
            assert!(told.starts_with(expected), "{told}, not {expected}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        assert_eq!(shown("你".repeat(300).as_bytes()), "你".repeat(200) + "…");
        assert_eq!(shown("é".as_bytes()), "é");
    }
}
