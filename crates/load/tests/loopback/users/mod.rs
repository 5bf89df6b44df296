//! Users who send more than one request for an answer: redirects that are followed, set-ups, subscriptions.

mod redirects;
mod setup;
mod subscribe;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::support::{crude_server, read_head};

/// A request as a server got it.
#[derive(Clone, Debug)]
struct Got {
    /// Method and path.
    line: String,
    head: String,
    body: String,
}

impl Got {
    /// The value of a header; empty if it is absent.
    fn header(&self, wanted: &str) -> &str {
        let fields = self.head.lines().filter_map(|line| line.split_once(": "));
        fields.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value).next().unwrap_or("")
    }
}

/// The requests that a server got, in the order in which it answered them.
type Journal = Arc<Mutex<Vec<Got>>>;

/// A server that answers as `answer` says, and closes the connection after an answer that announces it.
fn site(answer: impl Fn(&Got) -> String + Clone + Send + 'static) -> (SocketAddr, Journal) {
    let journal = Journal::default();
    let written = Arc::clone(&journal);
    let address = crude_server(move |mut stream| {
        while let Some(head) = read_head(&mut stream) {
            let head = String::from_utf8(head).unwrap();
            let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
            let mut got = Got { line, head, body: String::new() };
            let mut body = vec![0; got.header("content-length").parse().unwrap_or(0)];
            if stream.read_exact(&mut body).is_err() {
                return;
            }
            got.body = String::from_utf8(body).unwrap();
            let answer = answer(&got);
            written.lock().unwrap().push(got);
            if stream.write_all(answer.as_bytes()).is_err() || answer.contains("Connection: close") {
                return;
            }
        }
    });
    (address, journal)
}

/// An answer with these header lines, each with its end of line.
fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}
