//! How a client opens a WebSocket: a request to upgrade, and an answer that proves that the server understood it.

use tungstenite::handshake::client::generate_key;
use tungstenite::handshake::derive_accept_key;

use crate::http::{EncodeError, Head, Method, Progress, Request, ResponseParser, Sink};

/// So much of a place to which a server leads is shown.
const MAX_SHOWN_BYTES: usize = 200;

#[derive(Debug)]
pub struct Handshake {
    parser: ResponseParser,
    answer: AnswerCheck,
}

impl Handshake {
    /// A handshake with a new key, and its request (RFC 6455, section 4.1). `headers` may offer subprotocols. Those of
    /// the handshake itself are left out: they are another connection's, such as of a browser.
    pub fn begin(path: &str, host: &str, headers: &[(String, String)]) -> Result<(Self, Vec<u8>), EncodeError> {
        let key = generate_key();
        let own = [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", &key),
        ];
        let is_own = |given: &str| own.iter().any(|(name, _)| given.eq_ignore_ascii_case(name));
        let others = headers.iter().filter(|(name, _)| !is_own(name)).cloned();
        let headers: Vec<(String, String)> =
            others.chain(own.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect();
        let request = Request { method: &Method::GET, path, host, headers: &headers, body: b"" }.encode()?;
        let offered = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
        let answer = AnswerCheck {
            status: 0,
            accept: derive_accept_key(key.as_bytes()),
            subprotocols: offered.flat_map(|(_, value)| value.split(',')).map(|name| name.trim().to_owned()).collect(),
            verdict: Ok(()),
        };
        Ok((Self { parser: ResponseParser::new(), answer }, request))
    }

    /// The status of the answer; 0 before its head has come.
    pub const fn status(&self) -> u16 {
        self.answer.status
    }

    /// Parses bytes of the answer; the bytes after it stay in `input`. Returns whether the WebSocket is open. Fails
    /// with the reason, in words, why the server did not open it; the connection cannot be used any more.
    pub fn receive(&mut self, bytes: &mut &[u8]) -> Result<bool, String> {
        let fed = self.parser.feed(bytes, &mut self.answer);
        let progress = fed.map_err(|error| error.to_string())?;
        // A refusal is known when its head has arrived. Its body does not matter.
        self.answer.verdict.clone()?;
        let (consumed, is_open) = match progress {
            Progress::NeedsMore => (bytes.len(), false),
            Progress::Complete { consumed, .. } => (consumed, true),
        };
        *bytes = &bytes[consumed..];
        Ok(is_open)
    }
}

#[derive(Debug)]
struct AnswerCheck {
    status: u16,
    accept: String,
    subprotocols: Vec<String>,
    verdict: Result<(), String>,
}

impl Sink for AnswerCheck {
    fn head(&mut self, head: &Head<'_>) {
        (self.status, self.verdict) = (head.status, self.check_head(head));
    }

    fn body(&mut self, _: &[u8]) {}
}

impl AnswerCheck {
    /// RFC 6455, sections 4.1, 11.3.3 and 11.3.4.
    fn check_head(&self, head: &Head<'_>) -> Result<(), String> {
        if head.status != 101 {
            let location = head.header_value("location").filter(|_| (300..400).contains(&head.status));
            let leads = |location: &[u8]| {
                let location = location[..location.len().min(MAX_SHOWN_BYTES)].escape_ascii();
                format!("it leads to \"{location}\": give that URL with ws or wss, or log in there first")
            };
            let remedy = match head.status {
                401 | 403 => "it asks for a login or for a header",
                500.. => "the server refuses it for now",
                _ => "is there a WebSocket at this path?",
            };
            let what = location.map_or_else(|| remedy.to_owned(), leads);
            return Err(format!("status {} instead of 101; {what}", head.status));
        }
        if head.minor_version == 0 {
            return Err("101 in HTTP/1.0, which cannot open a WebSocket".to_owned());
        }
        let combined = |name| head.combined_value(name).map(|value| String::from_utf8_lossy(&value).into_owned());
        let says = |name, word: &str| {
            let value = combined(name).unwrap_or_default();
            value.split(',').any(|item| item.trim().eq_ignore_ascii_case(word))
        };
        if !says("upgrade", "websocket") {
            return Err("101 without \"Upgrade: websocket\"".to_owned());
        }
        if !says("connection", "upgrade") {
            return Err("101 without \"Connection: Upgrade\"".to_owned());
        }
        let found = head.combined_value("sec-websocket-accept").unwrap_or_default();
        if found != self.accept.as_bytes() {
            let (found, expected) = (found.escape_ascii(), &self.accept);
            let wrong = "Sec-WebSocket-Accept does not follow from the key";
            return Err(format!("{wrong}: found {found}, expected {expected}"));
        }
        let is_any = |list: &String| list.split(',').any(|item| !item.trim().is_empty());
        let extensions = combined("sec-websocket-extensions").filter(is_any);
        // Two fields are refused too: a server chooses one subprotocol.
        let subprotocol = combined("sec-websocket-protocol").filter(|chosen| !self.subprotocols.contains(chosen));
        let not_offered = |chosen| Err(format!("the server chose \"{chosen}\", which was not offered"));
        extensions.or(subprotocol).map_or(Ok(()), not_offered)
    }
}
