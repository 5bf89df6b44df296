//! Feeds, templates, checks, suites and contracts of users: they are rejected with a reason, or can be used.

use tare_load::{
    Body, Check, Feed, FeedFormat, FeedOrder, Protocol, RequestSet, RequestSpec, Requests, outcome_of_bytes,
    parse_request_list,
};
use tare_plan::contract::Contract;
use tare_plan::suite::Suite;

use crate::connection::check_cuts;

/// Rows of a feed that are checked.
const ROWS: usize = 20;

/// One byte for the format, then a table: it is rejected, or every row gives a valid request.
pub fn check_feed(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let format = match kind % 4 {
        0 => FeedFormat::Separated(b','),
        1 => FeedFormat::Separated(b'\t'),
        2 => FeedFormat::Json,
        _ => FeedFormat::JsonLines,
    };
    let Ok(feed) = Feed::parse("feed", format, rest) else { return };
    let rows = feed.rows().min(ROWS);
    let Some(column) = feed.columns().iter().find(|name| !name.contains(['{', '}', '|']) && name.trim() == **name)
    else {
        return;
    };
    let path = format!("/{{{{{column}}}}}?{{{{{column}|url}}}}");
    let spec = RequestSpec::post(&path, Body::Text(format!("{{{{{column}}}}}{{{{{column}|json}}}}")));
    let requests = Requests::of([spec]).feed(feed.in_order(FeedOrder::Once));
    assert_eq!(count_valid_requests(&requests), Some(rows), "every row makes a request");
}

/// A path, a header and a body on three lines: they are rejected, or give valid requests.
pub fn check_template(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (path, header, body) = (next(), next(), next());
    let feed = Feed::parse("feed", FeedFormat::Separated(b','), "id,name\n1,a b\n2,\u{e9}\"\n".as_bytes());
    let spec = RequestSpec::post(path, Body::Text(body.to_owned())).header("X", header);
    let requests = Requests { feeds: feed.into_iter().collect(), ..Requests::of([spec]) };
    let _ = count_valid_requests(&requests);
    let _ = parse_request_list("list", text);
}

/// A check in the first line, with its pattern or its path into JSON, then a body: the check is rejected with a reason, or
/// judges an answer with this body, whole, in single bytes and in uneven pieces alike.
pub fn check_check(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let mut next = || parts.next().unwrap_or_default();
    let (Ok(text), body) = (std::str::from_utf8(next()), next()) else { return };
    let check = match text.parse::<Check>() {
        Ok(check) => check,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let requests = RequestSpec::post("/", Body::Text("x".to_owned())).expecting(check).into();
    assert!(count_valid_requests(&requests).is_some(), "{text:?}");
    let head = format!("HTTP/1.1 200 OK\r\nX-Id: 0123abcd\r\nContent-Length: {}\r\n\r\n", body.len());
    let answer = [head.as_bytes(), body].concat();
    check_cuts(|size| outcome_of_bytes(Protocol::default(), &requests, answer.chunks(size)).ok(), answer.len());
}

/// A text is rejected as a suite, or its own scenarios make a contract; it is rejected as a contract, or can be read.
pub fn check_suite(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let contract = match Contract::parse("contract.toml", text) {
        Ok(contract) => contract,
        Err(error) => {
            assert!(error.to_string().contains("contract.toml"), "it names the file: {error}");
            Contract::default()
        }
    };
    match Suite::parse("suite.toml", text) {
        Ok(suite) => drop(suite.scenarios_with(&contract)),
        Err(error) => assert!(error.to_string().contains("suite.toml"), "it names the file: {error}"),
    }
}

/// Number of valid requests, up to [`ROWS`]; `None` if they were rejected.
fn count_valid_requests(requests: &Requests) -> Option<usize> {
    let set = RequestSet::encode("host", requests).ok()?;
    let sent = set.first_requests(ROWS);
    sent.iter().for_each(|bytes| assert_is_sound(bytes));
    Some(sent.len())
}

/// Checks that a server reads exactly one request from these bytes.
fn assert_is_sound(bytes: &[u8]) {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut request = httparse::Request::new(&mut headers);
    let head = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        other => panic!("{other:?}: {}", bytes.escape_ascii()),
    };
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
    assert_eq!(length, Some(bytes.len() - head), "the length is that of the body: {}", bytes.escape_ascii());
    assert_eq!(request.path.map(|path| path.starts_with('/')), Some(true));
}
