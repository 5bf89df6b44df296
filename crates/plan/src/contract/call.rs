//! Requests as they are sent: what follows from the method of a gRPC call is filled in, and its message is framed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tare_wire::{grpc, http};

use super::{BodySpec, Request};

/// The status of a gRPC call, by its name: `NOT_FOUND`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GrpcStatus(pub grpc::Code);

impl TryFrom<String> for GrpcStatus {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl From<GrpcStatus> for String {
    fn from(GrpcStatus(code): GrpcStatus) -> Self {
        code.name().map_or_else(|| code.0.to_string(), str::to_owned)
    }
}

impl Request {
    pub fn header_list(&self) -> Vec<(String, String)> {
        self.headers.clone().into_iter().collect()
    }

    /// The bytes to send after the headers; none where there is no body.
    pub fn body_bytes(&self) -> Arc<[u8]> {
        let message = self.message_bytes();
        if self.grpc.is_some() { grpc::frame(&message).into() } else { message }
    }

    /// The same without the frame of a gRPC call.
    pub fn message_bytes(&self) -> Arc<[u8]> {
        self.body.as_ref().map_or_else(|| [].into(), BodySpec::bytes)
    }

    /// Fills in what follows from the method of a gRPC call, and refuses what could not be sent.
    pub(crate) fn complete(&mut self) -> Result<(), String> {
        match self.grpc.clone() {
            Some(method) => self.complete_call(&method)?,
            None if self.path.is_empty() => return Err("has no path; write for example path = \"/\"".to_owned()),
            None if matches!(self.body, Some(BodySpec::Json { .. })) => {
                return Err("protoset is for the message of a gRPC call; name its method with grpc".to_owned());
            }
            None => {}
        }
        if let Some(wrong) = self.body.as_ref().and_then(BodySpec::contradiction) {
            return Err(format!("body: {wrong}"));
        }
        let method = http::method_named(&self.method).map_err(|error| error.to_string())?;
        let (headers, body) = (self.header_list(), self.body_bytes());
        let request = http::Request { method: &method, path: &self.path, host: "", headers: &headers, body: &body };
        request.check().map_err(|error| error.to_string())
    }

    fn complete_call(&mut self, method: &str) -> Result<(), String> {
        let path = grpc::path_of(method)?;
        if !self.path.is_empty() && self.path != path {
            return Err("has a path and a method of gRPC, which has its own; leave out path".to_owned());
        }
        self.path = path;
        match self.method.as_str() {
            "GET" | "POST" => self.method = "POST".to_owned(),
            _ => return Err("is a gRPC call, which is always a POST; leave out method".to_owned()),
        }
        for (name, value) in grpc::HEADERS {
            if !self.headers.keys().any(|given| given.eq_ignore_ascii_case(name)) {
                self.headers.insert(name.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Contract;
    use super::*;

    fn request(written: &str, expect: &str) -> Result<Request, String> {
        let text = format!("schema = 1\n[scenarios.Call]\nrequest = {written}\nexpect = {expect}\n");
        let contract = Contract::parse("c.toml", &text).map_err(|error| error.to_string())?;
        Ok(contract.scenarios["Call"].request.clone())
    }

    #[test]
    fn a_call_is_a_post_of_a_framed_message_to_the_path_of_its_method() {
        let call =
            request("{ grpc = \"a.Greeter/Say\", body = { hex = \"0a01\" } }", "{ grpc_status = \"NOT_FOUND\" }");
        let call = call.unwrap();
        assert_eq!((call.method.as_str(), call.path.as_str()), ("POST", "/a.Greeter/Say"));
        assert_eq!((&call.body_bytes()[..], &call.message_bytes()[..]), (&[0, 0, 0, 0, 2, 10, 1][..], &[10, 1][..]));
        let headers: Vec<_> = call.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(headers, [("content-type", "application/grpc"), ("te", "trailers")]);
        let empty =
            request("{ grpc = \"G/M\", headers = { Content-Type = \"application/grpc+proto\" } }", "{}").unwrap();
        assert_eq!((&empty.body_bytes()[..], empty.headers.len()), (&[0; 5][..], 2));
        // A plan is written and read with what was filled in.
        let mut again: Request = serde_json::from_str(&serde_json::to_string(&call).unwrap()).unwrap();
        assert_eq!(again, call);
        again.complete().unwrap();
        assert_eq!(again, call);
    }

    #[test]
    fn what_is_no_call_is_refused_with_the_key() {
        for (written, expect, says) in [
            ("{ grpc = \"SayHello\" }", "{}", "request: \"SayHello\" is not a method of gRPC; write package.Service"),
            ("{ grpc = \"G/M\", path = \"/x\" }", "{}", "request: has a path and a method of gRPC"),
            ("{ grpc = \"G/M\", method = \"PUT\" }", "{}", "request: is a gRPC call, which is always a POST"),
            ("{ grpc = \"G/M\", body = { hex = \"0\" } }", "{}", "request: body: \"0\" is not in hex"),
            ("{ path = \"/\" }", "{ grpc_status = \"OK\" }", "expect: grpc_status is that of a gRPC call"),
            ("{ grpc = \"G/M\" }", "{ grpc_status = \"FINE\" }", "\"FINE\" is no status of gRPC; there are OK"),
            (
                "{ path = \"/\", body = { json = \"{}\", protoset = \"a\" } }",
                "{}",
                "request: protoset is for the message",
            ),
            ("{ method = \"POST\" }", "{}", "request: has no path"),
            (
                "{ path = \"/\", body = { seed = 1, bytes = 1000000000000000, alphabet = \"binary\" } }",
                "{}",
                "request: body: 1000000000000000 bytes are too many; write at most 1073741824",
            ),
            ("{ path = \"/\" }", "{ body = { hex = \"xy\" } }", "expect: \"xy\" is not in hex"),
        ] {
            let error = request(written, expect).unwrap_err();
            assert!(error.contains(says), "{written}: {error}");
        }
    }
}
