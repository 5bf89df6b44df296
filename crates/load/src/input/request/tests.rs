//! Requests, from the specification to the bytes sent.

use super::*;
use crate::error::LoadError;
use crate::input::feed::{FeedFormat, FeedOrder};
use crate::schedule::Share;

fn preview(requests: &Requests, count: usize) -> Vec<String> {
    let set = RequestSet::encode("h:80", requests).unwrap();
    set.first_requests(count).iter().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
}

fn text(text: &str) -> Body {
    Body::Text(text.to_owned())
}

fn json(text: &str) -> Body {
    Body::Json(text.to_owned())
}

fn form<const N: usize>(fields: [(&str, &str); N]) -> Body {
    Body::Form(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
}

fn one(spec: RequestSpec) -> String {
    preview(&spec.into(), 1).remove(0)
}

fn error(requests: impl Into<Requests>) -> String {
    RequestSet::encode("h", &requests.into()).map(|_| ()).unwrap_err().to_string()
}

fn users() -> Feed {
    Feed::parse("users.csv", FeedFormat::Separated(b','), b"id,name\n7,a b\n8,\xc3\xa9\n").unwrap()
}

#[test]
fn fixed_requests_share_their_bytes() {
    let set = RequestSet::encode("h", &RequestSpec::post("/", *b"abc").into()).unwrap();
    let sent = set.first_requests(2);
    assert_eq!(&*sent[0], b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(sent[0].as_ptr(), sent[1].as_ptr());
}

#[test]
fn a_check_of_the_whole_body_looks_for_its_coding_also_where_none_was_asked_for() {
    let decodes = |check: &str, asked: bool| {
        let mut spec = RequestSpec::get("/").header("X", "1");
        spec.checks.push(check.parse().unwrap());
        let spec = if asked { spec.header("accept-encoding", "gzip") } else { spec };
        RequestSet::encode("h", &spec.into()).unwrap().get(0).expectation.decodes
    };
    for check in ["body contains a", "json $.a", "body ~ a"] {
        assert!(decodes(check, false), "{check}");
    }
    assert!(!decodes("length 3", false) && decodes("length 3", true) && !decodes("status 200", true));
}

#[test]
fn bodies_bring_their_bytes_and_their_type() {
    for (body, expected) in [
        (text("{\"a\": 1}"), "Content-Length: 8\r\n\r\n{\"a\": 1}"),
        (json("{\"a\": 1}"), "Content-Type: application/json\r\nContent-Length: 8\r\n\r\n{\"a\": 1}"),
        (
            form([("a b", "c&d"), ("é", "")]),
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 19\r\n\r\na%20b=c%26d&%C3%A9=",
        ),
        (Body::default(), "Content-Length: 0\r\n\r\n"),
    ] {
        assert_eq!(one(RequestSpec::post("/", body)), format!("POST / HTTP/1.1\r\nHost: h:80\r\n{expected}"));
    }
    let given = one(RequestSpec::post("/", json("1")).header("content-type", "text/json"));
    assert_eq!(given, "POST / HTTP/1.1\r\nHost: h:80\r\ncontent-type: text/json\r\nContent-Length: 1\r\n\r\n1");
}

#[test]
fn variables_are_filled_in_everywhere_and_the_length_is_right() {
    let spec = RequestSpec::post("/u/{{name}}?q={{name|url}}", text("{{name}}={{counter:9}}")).header("X-Id", "{{id}}");
    let expected = [
        "POST /u/a%20b?q=a%20b HTTP/1.1\r\nHost: h:80\r\nX-Id: 7\r\nContent-Length: 5\r\n\r\na b=9",
        "POST /u/%C3%A9?q=%C3%A9 HTTP/1.1\r\nHost: h:80\r\nX-Id: 8\r\nContent-Length: 5\r\n\r\né=10",
    ];
    assert_eq!(preview(&Requests::of([spec]).feed(users()), 2), expected);
}

#[test]
fn a_fixed_body_behind_a_path_with_variables_and_a_form_with_variables() {
    let spec = RequestSpec::post("/{{id}}", *b"abc");
    let expected = "POST /7 HTTP/1.1\r\nHost: h:80\r\nContent-Length: 3\r\n\r\nabc";
    assert_eq!(preview(&Requests::of([spec]).feed(users()), 1), [expected]);
    let get = Requests::of([RequestSpec::get("/{{id}}")]).feed(users());
    assert_eq!(preview(&get, 1), ["GET /7 HTTP/1.1\r\nHost: h:80\r\n\r\n"]);
    let form = RequestSpec::post("/", form([("n", "{{name}}"), ("{{id}}", "x y")]));
    let sent = preview(&Requests::of([form]).feed(users()), 1).remove(0);
    assert!(sent.ends_with("Content-Length: 15\r\n\r\nn=a%20b&7=x%20y"), "{sent}");
}

#[test]
fn parts_and_bytes_are_the_same_request() {
    let spec = RequestSpec::post("/{{name}}", json("[{{id}}]")).header("X", "{{id}}");
    let set = RequestSet::encode("h", &Requests::of([spec]).feed(users())).unwrap();
    let mut cursor = set.cursor(Share { worker: 0, workers: 1 });
    let request = cursor.next().unwrap();
    let parts = cursor.parts(request);
    let headers = [("X", "7"), ("Content-Type", "application/json")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!((parts.path.as_str(), &parts.headers[..], &*parts.body), ("/a%20b", &headers[..], &b"[7]"[..]));
    assert!(cursor.encoded(request).ends_with(b"\r\n\r\n[7]"));
}

#[test]
fn weights_decide_who_is_next_and_workers_begin_apart() {
    let requests = Requests::of(
        [("/a", 3), ("/b", 1), ("/c", 0)].map(|(path, weight)| RequestSpec { weight, ..RequestSpec::get(path) }),
    );
    let set = RequestSet::encode("h", &requests).unwrap();
    let sent = |worker, workers| {
        let mut cursor = set.cursor(Share { worker, workers });
        (0..5).map(|_| cursor.next().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(sent(0, 1), [0, 0, 1, 0, 0]);
    assert_eq!(sent(1, 2), [1, 0, 0, 0, 1]);
}

#[test]
fn a_feed_for_once_ends_the_requests() {
    let requests = Requests::of([RequestSpec::get("/{{id}}")]).feed(users().in_order(FeedOrder::Once));
    assert_eq!(preview(&requests, 9).len(), 2);
}

#[test]
fn wrong_requests_say_where_and_what_would_be_right() {
    let control = Feed::parse("c.csv", FeedFormat::Separated(b','), b"ok,t\n1,2\n1,\"a\nb\"\n").unwrap();
    for (spec, expected) in [
        (RequestSpec::get("x"), "request 1 (GET x): `x` is not a request path; begin it with /"),
        (RequestSpec::get("/a b/{{t|url}}"), "`/a b/0` is not a request path"),
        (
            RequestSpec::get("/{{u}}"),
            "request 1 (GET /{{u}}), path, character 2: there is no variable `u`; did you mean",
        ),
        (RequestSpec::get("/").header("a b", "c"), "header `a b` cannot be sent"),
        (RequestSpec::get("/").header("a", "{{ok}"), "header a, character 1: `{{` without `}}`"),
        (RequestSpec::get("/").header("a", "{{ok}}\n"), "header `a` cannot be sent"),
        (RequestSpec::get("/").header("a", "{{t}}"), "c.csv, line 3, column `t`: a control character"),
        (RequestSpec::get("/").header("Connection", "{{ok}}"), "request 1 (GET /), header Connection: a variable"),
        (
            RequestSpec::post("/", *b"abc").header("Content-Length", "5"),
            "request 1 (POST /): `Content-Length: 5` is not the length of the body, which is 3; leave it out",
        ),
        (
            RequestSpec::post("/{{ok}}", *b"abc").header("Content-Length", "5"),
            "`Content-Length: 5` is not the length of the body, which is 3",
        ),
        (
            RequestSpec::post("/", text("{{ok}}")).header("content-length", "1"),
            "header content-length: a fixed length, and the body has variables; leave it out",
        ),
        (RequestSpec::post("/", *b"1").header("Content-Length", "{{ok}}"), "header Content-Length: a variable"),
        (RequestSpec::post("/", *b"1").header("Transfer-Encoding", "{{ok}}"), "header Transfer-Encoding: a variable"),
        (
            RequestSpec::post("/{{ok}}", *b"1").header("Transfer-Encoding", "gzip"),
            "`Transfer-Encoding: gzip` does not say where the body ends; end it with chunked",
        ),
        (
            RequestSpec::post("/a.B/C", *b"\0\0\0\0\0").header("Content-Type", "application/grpc+proto"),
            "request 1 (POST /a.B/C): the outcome of a gRPC call is in its grpc-status",
        ),
        (RequestSpec::post("/", text("é{{x}}")), "body, character 2: there is no variable `x`"),
        (RequestSpec::post("/", form([("f", "{{x}}")])), "body, field `f`, character 1"),
    ] {
        let error = error(Requests::of([spec]).feed(control.clone()));
        assert!(error.contains(expected), "{error}");
    }
    let of_web = RequestSpec::post("/a.B/C", *b"\0").header("Content-Type", "application/grpc-web");
    assert!(
        [RequestSpec::call("/a.B/C", b""), of_web]
            .into_iter()
            .all(|spec| RequestSet::encode("h", &spec.into()).is_ok())
    );
    let weights = error([RequestSpec { weight: u32::MAX, ..RequestSpec::get("/") }, RequestSpec::get("/")].to_vec());
    assert!(weights.contains("use smaller weights") && weights.contains("or fewer requests"), "{weights}");
}

#[test]
fn a_host_that_would_break_the_header_section_is_refused_whatever_the_request() {
    for path in ["/", "/{{counter}}"] {
        let error =
            RequestSet::encode("a\r\nX: y", &RequestSpec::get(path).into()).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("the host: header `Host` cannot be sent"), "{path}: {error}");
    }
}

#[test]
fn a_filter_makes_a_value_fit_where_it_stands() {
    let feed = Feed::parse("c.csv", FeedFormat::Separated(b','), b"t\n\"a \nb\"\n").unwrap();
    let spec = RequestSpec::get("/{{t}}/{{t|url}}/{{t|json}}").header("X", "{{t|url}}");
    let expected = "GET /a%20%0Ab/a%20%0Ab/a%20\\nb HTTP/1.1\r\nHost: h:80\r\nX: a%20%0Ab\r\n\r\n";
    assert_eq!(preview(&Requests::of([spec]).feed(feed), 1), [expected]);
}

#[test]
fn errors_are_of_the_crates_kind() {
    let error = RequestSet::encode("h", &RequestSpec::get("").into()).map(|_| ()).unwrap_err();
    assert!(matches!(error, LoadError::Input { .. }));
}

#[test]
fn a_form_with_a_file_is_sent_in_parts() {
    let text = |content_type: Option<&str>| FormPart::Text {
        name: "na\"me".to_owned(),
        text: "{{counter}}".to_owned(),
        content_type: content_type.map(str::to_owned),
    };
    let file = FormPart::File {
        name: "file".to_owned(),
        file_name: "a.bin".to_owned(),
        content_type: "application/octet-stream".to_owned(),
        contents: (*b"\x00----tare-form-boundary{{x}}").into(),
    };
    let spec = RequestSpec::post("/", Body::Multipart(vec![text(Some("text/plain")), file]));
    let set = RequestSet::encode("h", &spec.into()).unwrap();
    let sent = String::from_utf8_lossy(&set.first_requests(2)[1]).into_owned();
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Content-Type: multipart/form-data; boundary=----tare-form-boundary-\r\n"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    let expected = "------tare-form-boundary-\r\nContent-Disposition: form-data; name=\"na%22me\"\r\n\
                    Content-Type: text/plain\r\n\r\n1\r\n------tare-form-boundary-\r\n\
                    Content-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\
                    Content-Type: application/octet-stream\r\n\r\n\0----tare-form-boundary{{x}}\r\n\
                    ------tare-form-boundary---\r\n";
    assert_eq!(body, expected);
}

/// A part of a form with a file of this name and type.
fn file_part(name: &str, file_name: &str, content_type: &str) -> Body {
    let [name, file_name, content_type] = [name, file_name, content_type].map(str::to_owned);
    Body::Multipart(vec![FormPart::File { name, file_name, content_type, contents: (*b"x").into() }])
}

#[test]
fn a_type_of_parts_without_a_boundary_gets_it_and_one_with_it_is_kept() {
    for (given, sent) in [
        ("multipart/form-data", "multipart/form-data; boundary=----tare-form-boundary"),
        ("multipart/mixed; a=b", "multipart/mixed; a=b; boundary=----tare-form-boundary"),
        ("multipart/form-data; Boundary=own", "multipart/form-data; Boundary=own"),
    ] {
        let sent_now = one(RequestSpec::post("/", file_part("f", "a", "t/x")).header("content-type", given));
        assert!(sent_now.contains(&format!("\r\ncontent-type: {sent}\r\n")), "{sent_now}");
        assert_eq!(sent_now.matches("ontent-type").count(), 1, "{sent_now}");
    }
}

#[test]
fn the_head_of_a_part_has_variables_which_cannot_break_it() {
    let feed = Feed::parse("c.csv", FeedFormat::Separated(b','), b"t,u\n\"a\"\"b\r\nX: y\",1\n").unwrap();
    let body = file_part("n{{t}}", "{{counter:7}}-\\{{.png", "t/{{t}}; charset=\"utf-8\"");
    let sent = preview(&Requests::of([RequestSpec::post("/", body)]).feed(feed), 1).remove(0);
    let head = "name=\"na%22b%0D%0AX: y\"; filename=\"7-{{.png\"\r\nContent-Type: t/a%22b%0D%0AX: y; charset=\"utf-8\"\r\n\r\n";
    assert!(sent.contains(head), "{sent}");
    let error = error(RequestSpec::post("/", file_part("f", "a", "a\r\nX: y")));
    assert!(error.contains("field `f`: a line end or another control character in its type"), "{error}");
}

#[test]
fn a_feed_that_no_request_uses_is_refused() {
    let feed = |name: &str| Feed::parse(name, FeedFormat::Separated(b','), b"id,name\n1,a\n").unwrap();
    let requests = Requests::of([RequestSpec::get("/{{counter}}")]).feed(feed("users.csv"));
    let error = RequestSet::encode("localhost", &requests).unwrap_err().to_string();
    for says in ["users.csv", "no request uses a column of this feed", "{{id}}"] {
        assert!(error.contains(says), "{says}: {error}");
    }
    let requests = Requests::of([RequestSpec::get("/{{name}}")]).feed(feed("users.csv"));
    assert!(RequestSet::encode("localhost", &requests).is_ok());
}

#[test]
fn a_set_up_and_its_load_have_random_values_of_their_own() {
    let step = SetupStep { request: RequestSpec::get("/{{uuid}}"), variables: Vec::new() };
    let requests = Requests { setup: vec![step], ..Requests::of([RequestSpec::get("/{{uuid}}")]) };
    let (setup, load) = UserSetup::encode("h", &requests).unwrap();
    assert_ne!(setup.unwrap().requests.first_requests(1)[0][..], load.first_requests(1)[0][..]);
}

#[test]
fn who_writes_an_unknown_variable_is_told_how_to_write_braces() {
    let requests = Requests::of([RequestSpec::get("/{{raw}}")]);
    let error = RequestSet::encode("localhost", &requests).unwrap_err().to_string();
    assert!(error.contains(r"for the braces themselves write \{{"), "{error}");
}
