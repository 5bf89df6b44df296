//! Compares the answers of two servers. Where nothing says which body is right, the servers of a comparison must answer
//! alike: otherwise the figures would compare two different things.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_plan::contract::{Expect, ExpectBody, HexBody, MayDiffer, Request, may_differ_line};

use super::CheckOutcome;
use super::client::{Answer, Client, MAX_BODY_BYTES};
use super::compare::{compare_bytes, compare_headers, quoted};

/// Headers that change from answer to answer of the same server.
const VOLATILE: &[&str] = &["date"];

/// Headers that say how to read the body.
const OF_BODY: &[&str] = &["content-type", "content-encoding"];

/// Headers that must be alike: those of the body, and where a redirect leads. All others may be what the layer is for.
const COMPARED: &[&str] = &["content-type", "content-encoding", "location"];

/// Stands for the value of a header that two answers of one server have differently, as of a random id.
const CHANGES: &str = "another in each answer";

/// The length of the body. It may be missing where the body is sent in chunks, so it is compared where both state it.
const LENGTH: &str = "content-length";

/// How long after the first answer a second one is asked for.
const APART: Duration = Duration::from_millis(1100);

/// What a server answered, as far as it is compared with others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenAnswer {
    /// By name in lower case.
    headers: BTreeMap<String, String>,
    /// What must be alike; `None` where the contract alone says what is right.
    compared: Option<Compared>,
}

/// The body, and what need not be alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Compared {
    body: Vec<u8>,
    may_differ: Vec<MayDiffer>,
}

/// A part that differs, and how in words.
type PartDifference = (MayDiffer, String);

impl GivenAnswer {
    /// Of an answer of the server that `client` asked. `may_differ` is given where it must be like others.
    pub(super) fn of(answer: Answer, client: &Client, may_differ: Option<&[MayDiffer]>) -> Self {
        let names = answer.headers.iter().map(|(name, _)| name.to_ascii_lowercase());
        let kept: BTreeSet<String> = names.filter(|name| !VOLATILE.contains(&name.as_str())).collect();
        // A server names itself where it redirects to itself.
        let address = client.endpoint.address;
        let own = [client.host(), address.to_string(), format!("localhost:{}", address.port())];
        let unnamed = |value: String| own.iter().fold(value, |value, name| without_name(&value, name));
        let value = |name: String| answer.header(&name).map(|value| (name, unnamed(value)));
        let headers = kept.into_iter().filter_map(value).collect();
        let compared = may_differ.map(|may_differ| Compared { body: answer.body, may_differ: may_differ.to_vec() });
        Self { headers, compared }
    }

    /// Whether other servers must answer alike; otherwise the contract alone says what is right.
    pub fn is_compared(&self) -> bool {
        self.compared.is_some()
    }

    /// Adds what every answer must have under load, if this one is the baseline's: the headers that say how to read the
    /// body, and the body, as far as they may not differ.
    pub fn add_to(&self, expect: &mut Expect) {
        let Some(compared) = &self.compared else { return };
        let of_body = self.headers.iter().filter(|(name, _)| OF_BODY.contains(&name.as_str()));
        let headers = of_body.filter(|(name, _)| !compared.allows(&MayDiffer::Header((*name).clone())));
        expect.headers.extend(headers.map(|(name, value)| (name.clone(), value.clone())));
        // A longer body was not kept whole.
        if !compared.allows(&MayDiffer::Body) && compared.body.len() < MAX_BODY_BYTES {
            expect.body = Some(ExpectBody::Hex(HexBody::of(&compared.body)));
        }
    }

    fn differences(&self, expected: &Self) -> Vec<PartDifference> {
        let (Some(ours), Some(theirs)) = (&self.compared, &expected.compared) else { return Vec::new() };
        let body = compare_bytes(&theirs.body, &ours.body);
        // The length differs where the body does; it says more only of an answer without a body, as to HEAD.
        let states_length = [self, expected].iter().all(|answer| answer.headers.contains_key(LENGTH));
        let length = (states_length && body.is_none()).then_some(&LENGTH);
        let header = |name: &&str| {
            let [wanted, got] = [expected, self].map(|answer| answer.headers.get(*name).map(String::as_str));
            let text = compare_headers(name, wanted, got)?;
            Some((MayDiffer::Header((*name).to_owned()), text))
        };
        let of_headers = COMPARED.iter().chain(length).filter_map(header);
        let all = of_headers.chain(body.map(|text| (MayDiffer::Body, text)));
        let is_length = |part: &MayDiffer| *part == MayDiffer::Header(LENGTH.to_owned());
        all.filter(|(part, _)| !(ours.allows(part) || is_length(part) && ours.allows(&MayDiffer::Body))).collect()
    }

    /// The line of a suite that allows these differences, with those that it allows already.
    fn line_that_allows(&self, differences: &[PartDifference]) -> String {
        let mut parts = self.compared.as_ref().map_or_else(Vec::new, |compared| compared.may_differ.clone());
        parts.extend(differences.iter().map(|(part, _)| part.clone()));
        may_differ_line(&parts)
    }

    /// Without the values of headers that an earlier answer of the same server has otherwise.
    pub(super) fn without_changing(mut self, earlier: &Self) -> Self {
        let differs = |(name, value): &(&String, &mut String)| earlier.headers.get(*name).is_some_and(|v| v != *value);
        self.headers.iter_mut().filter(differs).for_each(|(_, value)| CHANGES.clone_into(value));
        self
    }

    /// How this answer to the named scenario differs from an earlier one of the same server; `None` if it does not.
    pub(super) fn change_since(&self, earlier: &Self, scenario: &str) -> Option<String> {
        let found = self.differences(earlier);
        (!found.is_empty()).then(|| {
            format!(
                "two answers of this server differ, {}. If they may, as an id or a time may, write in \
                 [scenarios.{scenario}]: {}",
                joined(&found),
                self.line_that_allows(&found)
            )
        })
    }
}

/// The text without this name of a server, wherever it stands for itself and is no part of another name or port.
fn without_name(text: &str, name: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || ['-', '.', ':'].contains(&c);
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        out += before;
        let is_part = out.ends_with(is_of_name) || after.starts_with(is_of_name);
        out += if is_part { name } else { "HOST:PORT" };
        rest = after;
    }
    out + rest
}

/// Two answers of one server to the same request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoAnswers {
    pub status: u16,
    pub body: Vec<u8>,
    /// The parts in which the second differs, as a suite allows them.
    pub changing: Vec<MayDiffer>,
    /// For how many seconds the server keeps a connection that rests, where it says so.
    pub rest_s: Option<u64>,
}

/// Asks a server twice, more than a second apart: many answers contain the time in seconds.
pub fn ask_twice(address: SocketAddr, request: &Request, timeout: Duration) -> Result<TwoAnswers, String> {
    let mut client = Client::new(address.into(), timeout);
    let mut ask = || client.ask(request).map_err(|failure| failure.to_string());
    let mut first = ask()?;
    std::thread::sleep(APART);
    let mut second = ask()?;
    if first.status != second.status {
        // It may have become ready in between.
        std::thread::sleep(APART);
        (first, second) = (second, ask()?);
    }
    if first.status != second.status {
        return Err(format!("it answers with status {}, and a second later with {}", first.status, second.status));
    }
    let (status, body) = (first.status, first.body.clone());
    let rest_s = first.header("keep-alive").and_then(|value| rest_in(&value));
    let [first, second] = [first, second].map(|answer| GivenAnswer::of(answer, &client, Some(&[])));
    let changing = second.differences(&first).into_iter().map(|(part, _)| part).collect();
    Ok(TwoAnswers { status, body, changing, rest_s })
}

/// The seconds in `timeout=5, max=100`.
fn rest_in(keep_alive: &str) -> Option<u64> {
    keep_alive.split(',').find_map(|item| item.trim().strip_prefix("timeout=")?.parse().ok())
}

impl Compared {
    fn allows(&self, part: &MayDiffer) -> bool {
        self.may_differ.contains(part)
    }
}

impl CheckOutcome {
    /// Holds the answer against that of the baseline. One that must be alike and is not fails the check.
    pub fn compare_with(&mut self, baseline: &str, theirs: &GivenAnswer) {
        let Some(ours) = self.answer.as_ref().filter(|_| self.passed) else { return };
        let found = ours.differences(theirs);
        if found.is_empty() {
            return;
        }
        self.passed = false;
        self.difference = Some(format!(
            "not what {baseline} answers: {}. If both are right, write in [scenarios.{}]: {}",
            joined(&found),
            self.check,
            ours.line_that_allows(&found)
        ));
    }
}

/// A header that two servers send differently: a cost, a mistake of the benchmark or the layer's sign, but no reason to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderDifference {
    /// In lower case.
    pub name: String,
    /// Its value in the first exchange concerned, of the baseline and of the other server; `None` where it is not sent.
    pub values: [Option<String>; 2],
    /// The exchanges with these values, and those with others, as of a random id.
    exchanges: [Vec<String>; 2],
}

/// The headers in which answers of another server differ from the baseline's, by name, unless the suite allows it.
pub fn header_differences(baseline: &[CheckOutcome], other: &[CheckOutcome]) -> Vec<HeaderDifference> {
    let mut found: BTreeMap<(String, [bool; 2]), HeaderDifference> = BTreeMap::new();
    for first in baseline {
        let second = other.iter().find(|second| second.check == first.check);
        let Some((one, two)) = first.answer.as_ref().zip(second.and_then(|second| second.answer.as_ref())) else {
            continue;
        };
        let may_differ = one.compared.as_ref().map_or(&[][..], |compared| &compared.may_differ);
        let names: BTreeSet<&String> = one.headers.keys().chain(two.headers.keys()).collect();
        for name in names.into_iter().filter(|name| !may_differ.contains(&MayDiffer::Header((*name).clone()))) {
            let values = [one, two].map(|answer| answer.headers.get(name).cloned());
            let is_sent = values.each_ref().map(Option::is_some);
            let changes = is_sent == [true; 2] && values.iter().flatten().any(|value| value == CHANGES);
            if changes || values[0] == values[1] {
                continue;
            }
            let new = || HeaderDifference { name: name.clone(), values: values.clone(), exchanges: Default::default() };
            let known = found.entry((name.clone(), is_sent)).or_insert_with(new);
            known.exchanges[usize::from(known.values != values)].push(first.check.clone());
        }
    }
    found.into_values().collect()
}

impl fmt::Display for HeaderDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [baseline, other] = self.values.each_ref().map(|value| quoted(value.as_deref()));
        let [same, varying] = self.exchanges.each_ref().map(|names| names.join(", "));
        write!(f, "header {}: {baseline} against {other} (in {same}", self.name)?;
        if varying.is_empty() { f.write_str(")") } else { write!(f, "; other values in {varying})") }
    }
}

fn joined(differences: &[PartDifference]) -> String {
    differences.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

    fn given(headers: &[(&str, &str)], body: &str, may_differ: Option<&[MayDiffer]>) -> GivenAnswer {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let client = Client::new(ADDRESS.into(), Duration::ZERO);
        GivenAnswer::of(Answer { headers, body: body.into(), ..Answer::default() }, &client, may_differ)
    }

    fn outcome(answer: GivenAnswer) -> CheckOutcome {
        CheckOutcome { check: "Home".into(), passed: true, difference: None, because: None, answer: Some(answer) }
    }

    /// The difference that comparing finds.
    fn compared(ours: GivenAnswer, theirs: &GivenAnswer) -> Option<String> {
        let mut outcome = outcome(ours);
        outcome.compare_with("bare", theirs);
        assert_eq!(outcome.passed, outcome.difference.is_none());
        outcome.difference
    }

    const TEXT: (&str, &str) = ("Content-Type", "text/plain");

    #[test]
    fn answers_that_are_alike_pass_with_other_dates_names_and_lengths_of_chunks() {
        let ours = given(&[TEXT, ("Date", "now"), ("X-Layer", "1")], "hello", Some(&[]));
        let theirs = given(&[("content-type", "text/plain"), ("content-length", "5")], "hello", Some(&[]));
        assert_eq!(compared(ours, &theirs), None);
    }

    #[test]
    fn a_difference_names_the_part_both_sides_and_the_line_that_allows_it() {
        let theirs = given(&[TEXT], "{\"state\":\"open\"}", Some(&[]));
        assert_eq!(
            compared(given(&[TEXT], "{\"state\":\"shut\"}", Some(&[])), &theirs).unwrap(),
            "not what bare answers: body: expected 16 bytes \"{\\\"state\\\":\\\"open\\\"}\", got 16 bytes \
             \"{\\\"state\\\":\\\"shut\\\"}\" (differs at byte 10). If both are right, write in [scenarios.Home]: \
             may_differ = [\"body\"]"
        );
        let packed = given(&[TEXT, ("Content-Encoding", "gzip")], "\u{1f}", Some(&[]));
        let both = compared(packed, &theirs).unwrap();
        assert!(
            both.contains("header content-encoding: expected none, got \"gzip\"; body: expected 16 bytes"),
            "{both}"
        );
        assert!(both.ends_with("may_differ = [\"header content-encoding\", \"body\"]"), "{both}");
    }

    #[test]
    fn what_may_differ_is_not_compared_and_what_the_contract_states_is_not_either() {
        let body = [MayDiffer::Body];
        let theirs = given(&[TEXT, ("content-length", "1")], "1", Some(&body));
        assert_eq!(compared(given(&[TEXT, ("content-length", "2")], "22", Some(&body)), &theirs), None);
        let html = given(&[("content-type", "text/html")], "22", Some(&body));
        let line = compared(html, &theirs).unwrap();
        assert!(line.ends_with("may_differ = [\"body\", \"header content-type\"]"), "{line}");
        assert_eq!(compared(given(&[], "other", None), &theirs), None);
    }

    #[test]
    fn a_redirect_to_the_own_port_is_alike_and_one_to_elsewhere_is_not() {
        let to = |location: &str| given(&[("Location", location)], "", Some(&[]));
        assert_eq!(compared(to("http://127.0.0.1:8080/a"), &to("http://127.0.0.1:8080/a")), None);
        for own in ["http://127.0.0.1:8080/a", "http://localhost:8080/a"] {
            assert_eq!(to(own).headers["location"], "http://HOST:PORT/a");
        }
        let other = "http://127.0.0.1:80801/a";
        assert_eq!(to(other).headers["location"], other);
        assert!(compared(to("/b"), &to("/a")).unwrap().contains("header location: expected \"/a\", got \"/b\""));
    }

    #[test]
    fn the_length_that_an_answer_to_head_states_is_compared() {
        let of = |length: &str| given(&[("Content-Length", length)], "", Some(&[]));
        assert!(compared(of("5"), &of("6")).unwrap().contains("header content-length: expected \"6\", got \"5\""));
    }

    #[test]
    fn how_long_a_connection_may_rest_is_read() {
        assert_eq!(["timeout=5", "max=100, timeout=72", "max=100"].map(rest_in), [Some(5), Some(72), None]);
    }

    #[test]
    fn an_answer_that_changes_is_recognised() {
        let first = given(&[TEXT], "id 1", Some(&[]));
        let says = given(&[TEXT], "id 2", Some(&[])).change_since(&first, "Home").unwrap();
        assert!(says.starts_with("two answers of this server differ, body: expected 4 bytes \"id 1\", got"), "{says}");
        assert!(says.ends_with("write in [scenarios.Home]: may_differ = [\"body\"]"), "{says}");
        assert_eq!(first.change_since(&first, "Home"), None);
    }

    #[test]
    fn under_load_both_must_give_the_body_and_the_headers_that_say_how_to_read_it() {
        let headers = [TEXT, ("X-Layer", "1"), ("Location", "/a")];
        let expected = |may_differ| {
            let mut expect = Expect::default();
            given(&headers, "hello", may_differ).add_to(&mut expect);
            expect
        };
        let agreed = expected(Some(&[]));
        assert_eq!(agreed.headers.into_iter().collect::<Vec<_>>(), [("content-type".into(), "text/plain".into())]);
        assert_eq!(agreed.body, Some(ExpectBody::Hex(HexBody::of(b"hello"))));
        let may_differ = [MayDiffer::Body, MayDiffer::Header("content-type".into())];
        assert_eq!(expected(Some(&may_differ)), Expect::default());
        assert_eq!(expected(None), Expect::default(), "the contract says it");
    }

    #[test]
    fn other_headers_that_differ_are_reported_with_both_values() {
        let found = |ours, theirs| {
            let all = header_differences(&[outcome(ours)], &[outcome(theirs)]);
            all.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            found(given(&[("Server", "a")], "", None), given(&[("X", "1")], "", None)),
            ["header server: \"a\" against none (in Home)", "header x: none against \"1\" (in Home)"]
        );
        let dated = |date| given(&[("Date", date)], "", None);
        assert!(found(dated("now"), dated("then")).is_empty());
        let [first, second, other] = ["1", "2", "3"].map(|id| given(&[("X-Id", id)], "", None));
        let changing = || second.clone().without_changing(&first);
        let counts = [(changing(), other.clone()), (other, changing()), (given(&[], "", None), changing())];
        assert_eq!(counts.map(|(ours, theirs)| found(ours, theirs).len()), [0, 0, 1], "it may be added");
        let may = [MayDiffer::Header("x-id".into())];
        assert!(found(given(&[("X-Id", "1")], "", Some(&may)), given(&[("X-Id", "2")], "", Some(&may))).is_empty());
    }

    #[test]
    fn a_random_header_is_one_difference_however_many_exchanges_have_it() {
        let answers = |values: [&str; 3]| {
            let named = ["First", "Second", "Third"].into_iter().zip(values);
            let answered = |(name, value): (&str, &str)| CheckOutcome {
                check: name.into(),
                ..outcome(given(&[("X-Id", value), ("Server", "a")], "", None))
            };
            named.map(answered).collect::<Vec<_>>()
        };
        let found = header_differences(&answers(["1", "2", "3"]), &answers(["4", "5", "6"]));
        let text = found.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text, ["header x-id: \"1\" against \"4\" (in First; other values in Second, Third)"]);
    }
}
