//! Edge cases of RFC 9110 and RFC 9112, one line each, and the rule that the same bytes have the same outcome however they
//! are cut.

use crate::outcome::read;
use proptest::prelude::*;

/// Columns of the table: where the outcome begins, and where the bytes begin.
const OUTCOME: usize = 5;
const BYTES: usize = 34;

/// Answers are put together from these pieces: what a server may send, whole or broken, in any order.
const PIECES: [&str; 30] = [
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.0 200 OK\r\n",
    "HTTP/1.2 404 No\r\n",
    "HTTP/1.1 204 No\r\n",
    "Content-Length: 2\r\n",
    "Content-Length:\r\n 2\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: ,chunked,\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "X-A: one\r\n\ttwo\r\n",
    " ",
    "\t",
    "\r\n",
    "\r",
    "\n",
    "\n\n",
    "\0",
    ":",
    ";a=\"b\"",
    ";",
    "=",
    "\"",
    "0\r\n",
    "2\r\nok\r\n",
    "2",
    "ok",
    "A: b\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
];

/// The bytes of a table's line.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, if byte == b'\\' { rest.next() } else { None }) {
            (_, Some(b'r')) => b'\r',
            (_, Some(b'n')) => b'\n',
            (_, Some(b't')) => b'\t',
            (_, Some(b'0')) => 0,
            (_, Some(b'x')) => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            (_, Some(other)) => other,
            (plain, None) => plain,
        });
    }
    bytes
}

/// The outcome of an answer that is read whole, in single bytes and cut in two everywhere; all must agree.
fn outcome_of(raw: &[u8], is_head: bool) -> String {
    let whole = read([raw], is_head);
    assert_eq!(read(raw.chunks(1), is_head), whole, "in single bytes: {}", raw.escape_ascii());
    for cut in 0..=raw.len() {
        let (first, second) = raw.split_at(cut);
        assert_eq!(read([first, second], is_head), whole, "cut at {cut}: {}", raw.escape_ascii());
    }
    whole.0
}

#[test]
fn every_edge_case_has_the_outcome_of_the_table() {
    let table = include_str!("../conformance.txt");
    let rows: Vec<&str> = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let wrong = rows.iter().filter_map(|row| {
        let found = outcome_of(&unescape(&row[BYTES..]), row.starts_with("HEAD"));
        (found != row[OUTCOME..BYTES].trim()).then(|| format!("{row}\n  came to {found}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn many_fields_folds_and_interim_answers_are_read() {
    let with = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok");
    for raw in [
        with(&"A: b\r\n".repeat(150)),
        with(&"A: b\r\n c\r\n".repeat(150)),
        with(&format!("A: {}\r\n b\r\n", "a".repeat(2_000))),
        "HTTP/1.1 100 Continue\r\n\r\n".repeat(50) + &with(""),
    ] {
        assert_eq!(outcome_of(raw.as_bytes(), false), "200 2 keep", "{raw:.80}");
    }
}

/// Cuts bytes into pieces of these lengths, again and again.
fn cut<'a>(mut raw: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if raw.is_empty() {
            break;
        }
        let (piece, rest) = raw.split_at(raw.len().min(*length));
        pieces.push(piece);
        raw = rest;
    }
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_same_bytes_have_the_same_outcome_however_they_are_cut(
        picks in proptest::collection::vec(0..PIECES.len(), 0..14),
        begins_well in any::<bool>(),
        lengths in proptest::collection::vec(1_usize..20, 1..6),
        is_head in any::<bool>(),
    ) {
        let begin = if begins_well { PIECES[0] } else { "" };
        let raw = begin.to_owned() + &picks.iter().map(|pick| PIECES[*pick]).collect::<String>();
        let whole = read([raw.as_bytes()], is_head);
        prop_assert_eq!(&read(raw.as_bytes().chunks(1), is_head), &whole);
        prop_assert_eq!(&read(cut(raw.as_bytes(), &lengths), is_head), &whole);
    }
}
