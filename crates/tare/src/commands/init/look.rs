//! What both servers answer: the suite states it of the bare one, so that both are held to it.

use std::path::Path;
use std::time::Duration;

use tare_plan::contract::{MayDiffer, may_differ_line};
use tare_plan::plan::Variant;
use tare_sut::contract::{TwoAnswers, ask_twice};

use super::SCENARIO;
use crate::args::{Global, ServerChoice};
use crate::failure::error_text;
use crate::session::BuiltServers;

/// A longer body makes the file hard to read. Then both servers are compared with each other.
const LONGEST_STATED_BYTES: usize = 120;

const TIMEOUT: Duration = Duration::from_secs(10);

/// A load opens connections anew that have rested for nearly so long. One that a server closes earlier may end when a request
/// reaches it.
const LEAST_REST_S: u64 = 5;

pub(super) struct Looked {
    pub bare: TwoAnswers,
    pub wrapped: Result<TwoAnswers, String>,
}

/// Builds and starts both servers of the suite that was written, one after the other, and asks each twice.
pub(super) fn look_at_answers(file: &Path, global: &Global) -> anyhow::Result<Looked> {
    let servers = ["bare".to_owned(), "wrapped".to_owned()];
    let choice = ServerChoice { suite: Some(file.to_owned()), ..ServerChoice::default() };
    let built = BuiltServers::build(&servers, usize::MAX, &choice, global)?;
    let group = built.plan.groups.first().ok_or_else(|| anyhow::anyhow!("the suite has no server"))?;
    let named = group.scenarios.iter().find(|named| named.name == SCENARIO);
    let request = &named.ok_or_else(|| anyhow::anyhow!("the suite has no scenario"))?.scenario.request;
    let ask = |variant: &Variant| -> anyhow::Result<TwoAnswers> {
        let ask = |address| ask_twice(address, request, TIMEOUT);
        let left_open =
            |asked: &Result<TwoAnswers, String>| asked.is_err().then(|| format!("the request {}", request.path));
        built.while_running(variant, ask, left_open)?.map_err(anyhow::Error::msg)
    };
    let bare = ask(group.baseline())?;
    let wrapped = group.variants.get(1).ok_or_else(|| anyhow::anyhow!("the suite has one server"))?;
    Ok(Looked { bare, wrapped: ask(wrapped).map_err(|error| error_text(&error)) })
}

impl Looked {
    /// What to do where the server soon closes connections that rest: a request that meets the end of one fails.
    pub(super) fn of_rest(&self) -> Option<String> {
        let rest_s = self.bare.rest_s.filter(|rest_s| *rest_s < LEAST_REST_S)?;
        Some(format!(
            "bare closes connections that rest for {rest_s} s, and they rest while wrapped is measured: let your server keep \
             them for {LEAST_REST_S} s or longer, or requests may fail"
        ))
    }

    /// What is to be said of the server with the layer. `is_one_command`: only `LAYER=1` makes it another one. `again` is the
    /// command that writes the suite anew.
    pub(super) fn of_wrapped(&self, is_one_command: bool, again: &str) -> String {
        match &self.wrapped {
            Err(why) => format!("wrapped does not answer: {why}"),
            Ok(wrapped) if wrapped.status != self.bare.status => {
                let next = match wrapped.status {
                    401 | 403 => format!("to send the header that the layer asks for: {again} -H 'NAME: value'"),
                    _ => "tare verify says what is not alike".to_owned(),
                };
                format!("wrapped answers with status {}: {next}", wrapped.status)
            }
            Ok(wrapped) if wrapped.body != self.bare.body && !self.bare.changing.contains(&MayDiffer::Body) => format!(
                "wrapped answers with another body; if both are right, write in [scenarios.{SCENARIO}]: expect = {{ status = \
                 {} }}, and in a line of its own {}",
                self.bare.status,
                may_differ_line(&[MayDiffer::Body])
            ),
            Ok(_) if is_one_command => {
                "wrapped is the same program with LAYER=1: read that variable to switch the layer on, or give --wrapped"
                    .to_owned()
            }
            Ok(_) => "wrapped answers with the same status".to_owned(),
        }
    }
}

/// The lines of a scenario that expect what a server answered twice.
pub(super) fn expectation(answers: &TwoAnswers) -> String {
    let status = answers.status;
    if !answers.changing.is_empty() {
        let line = may_differ_line(&answers.changing);
        return format!("expect = {{ status = {status} }}\n{line}    # two answers of the server differ in it\n");
    }
    match stated_body(&answers.body) {
        Some(body) => format!("expect = {{ status = {status}, body = {body} }}\n"),
        None => format!("expect = {{ status = {status} }}    # both servers must give the same body\n"),
    }
}

/// The body as TOML, where it is a short text.
fn stated_body(body: &[u8]) -> Option<String> {
    let text = str::from_utf8(body).ok().filter(|text| text.len() <= LONGEST_STATED_BYTES)?;
    let is_plain = text.chars().all(|c| !c.is_control() || c == '\n');
    is_plain.then(|| toml::Value::String(text.to_owned()).to_string())
}

#[cfg(test)]
mod tests {
    use tare_plan::suite::Suite;

    use super::*;

    fn scenario_of(body: &[u8], changing: &[MayDiffer]) -> tare_plan::contract::Scenario {
        let answers = TwoAnswers { status: 201, body: body.to_vec(), changing: changing.to_vec(), rest_s: None };
        let text = format!("[scenarios.Home]\nrequest = {{ path = \"/\" }}\n{}", expectation(&answers));
        let mut suite = Suite::parse("tare.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        suite.scenarios.remove("Home").unwrap()
    }

    #[test]
    fn what_the_server_answered_is_expected() {
        let body = |body: &[u8]| {
            let scenario = scenario_of(body, &[]);
            assert_eq!((scenario.expect.status, scenario.may_differ.len()), (201, 0));
            scenario.expect.body.map(|body| format!("{body:?}"))
        };
        assert_eq!(body(b"hello").as_deref(), Some("Exact(\"hello\")"));
        assert_eq!(body(b"a \"b\" \\c\n{}\n").as_deref(), Some("Exact(\"a \\\"b\\\" \\\\c\\n{}\\n\")"));
        assert_eq!(body(b"").as_deref(), Some("Exact(\"\")"));
        assert_eq!(body(&[b'x'; 500]), None, "both are compared with each other");
        assert_eq!(body(b"\xff\xfe"), None);
        assert_eq!(body(b"a\0"), None);
    }

    fn answers(body: &[u8], rest_s: Option<u64>) -> TwoAnswers {
        TwoAnswers { status: 200, body: body.to_vec(), changing: Vec::new(), rest_s }
    }

    #[test]
    fn a_server_that_closes_connections_soon_is_said() {
        let says = |rest_s| Looked { bare: answers(b"a", rest_s), wrapped: Ok(answers(b"a", rest_s)) }.of_rest();
        assert_eq!(says(None), None);
        assert_eq!(says(Some(5)), None);
        assert!(says(Some(2)).unwrap().starts_with("bare closes connections that rest for 2 s, "));
    }

    #[test]
    fn a_layer_that_changes_the_body_is_said_with_what_allows_it() {
        let says = |body: &[u8]| {
            Looked { bare: answers(b"a", None), wrapped: Ok(answers(body, None)) }.of_wrapped(true, "tare init --force")
        };
        assert!(says(b"a").starts_with("wrapped is the same program"), "{}", says(b"a"));
        assert!(says(b"b").ends_with("expect = { status = 200 }, and in a line of its own may_differ = [\"body\"]"));
    }

    #[test]
    fn a_layer_that_refuses_the_request_may_ask_for_a_header() {
        let says = |status: u16| {
            let wrapped = TwoAnswers { status, ..answers(b"", None) };
            Looked { bare: answers(b"a", None), wrapped: Ok(wrapped) }.of_wrapped(true, "tare init --force")
        };
        assert!(says(401).ends_with("the header that the layer asks for: tare init --force -H 'NAME: value'"));
        assert!(says(500).ends_with("tare verify says what is not alike"));
    }

    #[test]
    fn what_changes_may_differ() {
        let scenario = scenario_of(b"id 1", &[MayDiffer::Body]);
        assert_eq!(scenario.expect.body, None);
        assert_eq!(scenario.may_differ, [MayDiffer::Body]);
    }
}
