//! Redirects that are followed: the request to which one leads.

use tare_sample::ErrorClass;
use tare_wire::http::Method;
use url::{Position, Url};

use crate::input::request::Parts;
use crate::problem::{Problem, escape};

/// Headers that describe a body, and have no meaning without one.
const OF_BODY: [&str; 4] = ["content-type", "content-length", "content-encoding", "transfer-encoding"];

/// The request after `sent`, whose answer had this `status` and `location`; a problem if it leads to another server
/// than that at `base`, or is one too many. As with browsers and curl, a POST becomes a GET after 301 and 302.
///
/// # Source
/// RFC 9110, section 15.4.
pub(super) fn next_request(
    sent: &Parts,
    status: u16,
    location: &[u8],
    base: &str,
    (followed, most): (u8, u8),
) -> Result<Parts, Problem> {
    let refused = |why: &str| {
        let text = format!("status {status}, which leads to \"{}\": {why}", escape(location));
        Problem::new(ErrorClass::Status, text)
    };
    if followed >= most {
        return Err(refused(&format!("{most} redirects were followed; --follow=N follows more, unless they go round")));
    }
    let site = site_of(sent, base);
    let from = Url::parse(&format!("{site}{}", sent.path)).map_err(|_| refused("the URL that it follows is none"))?;
    let to = std::str::from_utf8(location).ok().and_then(|location| from.join(location).ok());
    let to = to.ok_or_else(|| refused("that is no URL"))?;
    if to.origin() != from.origin() {
        return Err(refused(&format!("that is not on {site}, and one load has one server; load that URL")));
    }
    let mut next = sent.clone();
    to[Position::BeforePath..Position::AfterQuery].clone_into(&mut next.path);
    let method = sent.method.as_str();
    if (status == 303 && method != "HEAD") || (matches!(status, 301 | 302) && method == "POST") {
        next.method = Method::GET;
        next.body = [].into();
        next.headers.retain(|(name, _)| !OF_BODY.iter().any(|of_body| name.eq_ignore_ascii_case(of_body)));
    }
    Ok(next)
}

/// Scheme and authority of the site that a request asks for: its own `Host`, or else that of the server.
fn site_of(sent: &Parts, base: &str) -> String {
    let own = sent.headers.iter().find(|(name, host)| name.eq_ignore_ascii_case("host") && !host.is_empty());
    match (own, base.split_once("://")) {
        (Some((_, host)), Some((scheme, _))) => format!("{scheme}://{host}"),
        _ => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tare_wire::http::method_named;

    use super::*;

    const BASE: &str = "http://shop:8080";

    fn sent(method: &str) -> Parts {
        let headers = [("Content-Type", "text/plain"), ("X", "y")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        Parts::new(method_named(method).unwrap(), "/a/b?c=d".to_owned(), headers.into(), (*b"text").into())
    }

    fn led_to(status: u16, location: &str) -> Result<String, String> {
        let next = next_request(&sent("GET"), status, location.as_bytes(), BASE, (0, 5));
        next.map(|parts| parts.path).map_err(|problem| problem.text)
    }

    #[test]
    fn a_location_is_read_from_where_it_was_said() {
        for (location, path) in [
            ("/new", "/new"),
            ("new?x=1#part", "/a/new?x=1"),
            ("?x", "/a/b?x"),
            ("../up", "/up"),
            ("http://SHOP:8080/abs olute", "/abs%20olute"),
            ("//shop:8080/", "/"),
        ] {
            assert_eq!(led_to(302, location), Ok(path.to_owned()), "{location}");
        }
    }

    #[test]
    fn the_host_that_a_request_names_is_its_site() {
        let mut sent = sent("GET");
        sent.headers.push(("host".to_owned(), "other:81".to_owned()));
        let led_to = |location: &[u8]| next_request(&sent, 302, location, BASE, (0, 5));
        for location in ["http://other:81/new", "/new"] {
            assert_eq!(led_to(location.as_bytes()).unwrap().path, "/new", "{location}");
        }
        assert!(led_to(b"http://third/").unwrap_err().text.contains("that is not on http://other:81"));
    }

    #[test]
    fn what_is_not_on_this_server_or_goes_round_is_said() {
        for location in ["http://shop/", "https://shop:8080/", "http://other:8080/x"] {
            let text = led_to(301, location).unwrap_err();
            assert!(text.contains("status 301") && text.contains(location) && text.contains("load that URL"), "{text}");
        }
        assert!(led_to(301, "http://[/").unwrap_err().contains("no URL"));
        let round = next_request(&sent("GET"), 302, b"/a", BASE, (5, 5)).unwrap_err();
        assert_eq!(round.class, ErrorClass::Status);
        assert!(round.text.contains("5 redirects were followed; --follow=N"), "{}", round.text);
    }

    #[test]
    fn the_status_decides_whether_method_and_body_stay() {
        for (status, method, next_method) in [
            (301, "POST", "GET"),
            (302, "POST", "GET"),
            (303, "POST", "GET"),
            (303, "PUT", "GET"),
            (303, "HEAD", "HEAD"),
            (302, "PUT", "PUT"),
            (307, "POST", "POST"),
            (308, "POST", "POST"),
        ] {
            let next = next_request(&sent(method), status, b"/new", BASE, (0, 5)).unwrap();
            let is_kept = next_method == method;
            assert_eq!((next.method.as_str(), next.body.is_empty()), (next_method, !is_kept), "{status} {method}");
            assert_eq!(next.headers.len(), if is_kept { 2 } else { 1 }, "{status} {method}");
        }
    }
}
