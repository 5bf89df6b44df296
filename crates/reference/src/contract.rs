//! The answers of the suites' servers, in one place: a pure function of method, path and the length of the body.

use crate::options::Options;
use crate::request::Persistence;

/// The answer that the contract demands, as it is sent.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// Whether the connection stays open. A header says so if it is not the default.
    pub(crate) persistence: Persistence,
}

impl Answer {
    pub(crate) const TYPE: &'static str = "text/plain; charset=UTF-8";

    /// The answer to a request, for a server with this number of routes and this length of answers.
    pub(crate) fn to(method: &str, path: &str, body_bytes: u64, options: &Options) -> Self {
        let found = match method {
            "GET" => get(path, options.routes).map(|body| match options.answer_bytes {
                0 => body,
                bytes => "x".repeat(bytes),
            }),
            "POST" => post(path, body_bytes, options.routes),
            _ => None,
        };
        let (status, body) = found.map_or_else(|| (404, "Not Found".to_owned()), |body| (200, body));
        Self { status, body, persistence: Persistence::Stays }
    }

    pub(crate) fn head(&self, length: usize) -> String {
        let reason = match self.status {
            200 => "OK",
            404 => "Not Found",
            _ => "Internal Server Error",
        };
        let connection = match self.persistence {
            Persistence::Stays => "",
            Persistence::Kept => "Connection: keep-alive\r\n",
            Persistence::Closes => "Connection: close\r\n",
        };
        let (status, content_type) = (self.status, Self::TYPE);
        format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\n{connection}Content-Length: {length}\r\n\r\n"
        )
    }

    /// Head and body.
    pub(crate) fn encode(&self) -> Vec<u8> {
        format!("{}{}", self.head(self.body.len()), self.body).into_bytes()
    }
}

fn get(path: &str, routes: u64) -> Option<String> {
    let (route, id) = path.strip_prefix("/path")?.split_once('/')?;
    let id: i32 = id.parse().ok()?;
    let sum = i64::try_from(known(route, routes)?).ok()? + i64::from(id);
    Some(sum.to_string())
}

fn post(path: &str, body_bytes: u64, routes: u64) -> Option<String> {
    let rest = path.strip_prefix("/path")?;
    let (kind, route) = rest.strip_prefix("Bytes").map_or(("string", rest), |route| ("bytes", route));
    let route = known(route, routes)?;
    Some(format!("Ok [{route}], {kind} length = {body_bytes}"))
}

fn known(route: &str, routes: u64) -> Option<u64> {
    route.parse().ok().filter(|number| *number < routes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_a_table() {
        for (method, path, length, status, body) in [
            ("GET", "/path0/1", 0, 200, "1"),
            ("GET", "/path127/3", 0, 200, "130"),
            ("GET", "/path3/-4", 0, 200, "-1"),
            ("GET", "/path128/1", 0, 404, "Not Found"),
            ("GET", "/path0/x", 0, 404, "Not Found"),
            ("GET", "/", 0, 404, "Not Found"),
            ("POST", "/path0", 256, 200, "Ok [0], string length = 256"),
            ("POST", "/pathBytes127", 5_242_880, 200, "Ok [127], bytes length = 5242880"),
            ("POST", "/pathBytes128", 1, 404, "Not Found"),
            ("PUT", "/path0", 1, 404, "Not Found"),
        ] {
            let answer = Answer::to(method, path, length, &Options::default());
            assert_eq!((answer.status, answer.body.as_str()), (status, body), "{method} {path}");
        }
    }

    #[test]
    fn an_answer_announces_its_type_and_length() {
        let bytes = Answer::to("GET", "/path1/1", 0, &Options::default()).encode();
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Length: 1\r\n\r\n2";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
