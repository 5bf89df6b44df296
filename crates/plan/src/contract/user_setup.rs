//! What each user of a load sends once before it (`tare load --setup FILE`), written as the requests of a suite.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{BodySpec, Expect, Request};
use crate::PlanError;
use crate::document;

/// A file of `--setup`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserSetup {
    /// In the order in which they are sent.
    pub setup: Vec<SetupRequest>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupRequest {
    /// What is sent. Path, headers and a body of text may contain `{{variables}}`.
    pub request: Request,
    /// What must come back; any status from 200 to 299 when absent.
    pub expect: Option<Expect>,
    /// Names of variables, and where in the answer their values stand: `token = "json $.token"`.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
}

impl UserSetup {
    /// Reads a set-up; `file` names the place of an error. Errors: [`PlanError::Document`] with the line, or
    /// [`PlanError::Value`] for one without requests or with one that no load could send.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let parsed: Self = document::parse_document(file, text)?;
        let wrong = |message: String| Err(PlanError::Value { origin: file.to_owned(), message });
        if parsed.setup.is_empty() {
            return wrong("has no requests; write [[setup]] and below it request = { path = \"/login\" }".to_owned());
        }
        for (index, SetupRequest { request, expect, .. }) in parsed.setup.iter().enumerate() {
            let body = || Some(format!("body: {}", request.body.as_ref()?.contradiction()?));
            let expected = || Some(format!("expect: {}", expect.as_ref()?.check(request).err()?));
            let what = match &request.body {
                _ if request.grpc.is_some() || expect.as_ref().is_some_and(|expect| expect.grpc_status.is_some()) => {
                    Some("calls of gRPC set no user up; write method and path of an HTTP request".to_owned())
                }
                Some(BodySpec::Json { .. }) => Some("protoset is for calls of gRPC; write the body as text".to_owned()),
                _ if !request.path.starts_with('/') => Some("path must begin with /".to_owned()),
                _ => body().or_else(expected),
            };
            if let Some(what) = what {
                return wrong(format!("[[setup]] number {}: {what}", index + 1));
            }
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_up_is_read_with_what_its_answers_fill() {
        let text = r#"
            [[setup]]
            request = { method = "POST", path = "/login", headers = { A = "b" }, body = '{"user": "{{user}}"}' }
            expect = { status = 201 }
            variables = { token = "json $.token" }
            [[setup]]
            request = { path = "/cart" }
        "#;
        let [login, cart] = &UserSetup::parse("s.toml", text).unwrap().setup[..] else { panic!() };
        assert_eq!((login.request.method.as_str(), login.expect.as_ref().map(|e| e.status)), ("POST", Some(201)));
        assert_eq!(login.variables["token"], "json $.token");
        assert_eq!((cart.request.method.as_str(), &cart.expect, cart.variables.len()), ("GET", &None, 0));
    }

    #[test]
    fn what_sets_nobody_up_is_refused_with_its_place() {
        for (text, says) in [
            ("setup = []", "s.toml: has no requests"),
            ("", "setup"),
            ("[[setup]]\nrequest = { path = \"login\" }", "[[setup]] number 1: path must begin with /"),
            ("[[setup]]\nrequest = { grpc = \"a.B/C\" }", "[[setup]] number 1: calls of gRPC"),
            ("[[setup]]\nrequest = { path = \"/\" }\nvariable = { a = \"b\" }", "variables"),
            ("[[setup]]\nrequest = { path = \"/\", metod = \"PUT\" }", "method"),
            ("[[setup]]\nrequest = { path = \"/\", body = { hex = \"0\" } }", "number 1: body: \"0\" is not in hex"),
            (
                "[[setup]]\nrequest = { path = \"/\" }\nexpect = { body = { hex = \"0\" } }",
                "number 1: expect: \"0\" is not in hex",
            ),
        ] {
            let error = UserSetup::parse("s.toml", text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
