//! The target of a load: URLs become one target with a path each, and a server must listen there.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use tare_load::Target;
use url::Url;

use crate::args::{ConnectTo, looked_up};
use crate::failure::wrong_usage;
use crate::recorded_command::without_secret_parameters;

#[derive(Debug)]
pub struct LoadTarget {
    pub url: Url,
    pub target: Target,
    /// Further addresses of the same name at which a server listens.
    pub further_addresses: Vec<SocketAddr>,
    /// Those that get no load, and why.
    pub unused_addresses: Vec<Unused>,
    /// The `Host` header: name and port as the URL has them.
    pub host: String,
    /// Path and query of each URL.
    pub paths: Vec<String>,
    /// Whether the paths are methods of gRPC. The URL then has the scheme of the HTTP beneath it.
    pub is_grpc: bool,
}

/// What no request line can have, besides letters beyond ASCII.
const NOT_IN_A_LINE: &AsciiSet = &CONTROLS.add(b' ');
const GRPC_SCHEMES: [(&str, &str); 2] = [("grpc", "http"), ("grpcs", "https")];

impl LoadTarget {
    /// Parses the URLs, resolves their host and checks whether a server listens. A Unix socket or an address may stand in
    /// place of the host. To connect takes `connect_within` at most; without it agents resolve the name and connect.
    pub fn from_urls(
        urls: &[String],
        (socket, address): (Option<&Path>, Option<&ConnectTo>),
        connect_within: Option<Duration>,
    ) -> anyhow::Result<Self> {
        let paths = urls.iter().map(|text| path(text)).collect();
        let is_grpc = urls.first().is_some_and(|text| is_grpc(text));
        if let Some(other) = urls.iter().find(|text| self::is_grpc(text) != is_grpc) {
            return Err(wrong_usage(format!("{other}: calls of gRPC and other requests are different loads")));
        }
        let urls = urls.iter().map(|text| parse_url(text)).collect::<anyhow::Result<Vec<Url>>>()?;
        let Some(first) = urls.first() else { bail!("there is no URL to load") };
        if let Some(other) = urls.iter().find(|url| url.origin() != first.origin()) {
            return Err(wrong_usage(format!(
                "{first} and {other} are on different servers; load one server at a time"
            )));
        }
        let (host, port) = match address {
            Some(address) => (Some(address.host.clone()), address.port),
            None => (first.host().map(looked_up), first.port_or_known_default().unwrap_or(80)),
        };
        let (mut further_addresses, mut unused_addresses) = (Vec::new(), Vec::new());
        let target = match (socket, connect_within) {
            (Some(path), _) => {
                if let Some(Err(error)) = connect_within.map(|_| UnixStream::connect(path)) {
                    bail!("{}", unreachable(&path.display().to_string(), &error))
                }
                Target::Unix(path.to_owned())
            }
            (None, Some(timeout)) => {
                let Some(host) = host else {
                    bail!("{first} has no host; write for example http://127.0.0.1:8080/path")
                };
                (further_addresses, unused_addresses) = addresses(&host, port, timeout)?;
                Target::Tcp(further_addresses.remove(0))
            }
            // Nothing of this process connects to it.
            (None, None) => Target::Tcp((Ipv4Addr::UNSPECIFIED, port).into()),
        };
        let name = first.host_str().unwrap_or_default();
        let host = first.port().map_or(name.to_owned(), |port| format!("{name}:{port}"));
        Ok(Self { paths, url: first.clone(), target, further_addresses, unused_addresses, host, is_grpc })
    }

    /// Leaves out the addresses to which no connection would go.
    pub fn leave_addresses_without_connection(&mut self, connections: u32) {
        let most = (connections as usize).saturating_sub(1).min(self.further_addresses.len());
        let left_out = self.further_addresses.split_off(most);
        if !left_out.is_empty() {
            self.unused_addresses.push((shown(&left_out), "there are more addresses than connections (-c)".to_owned()));
        }
    }

    /// The first URL as it was written, its variables among it, its secrets not.
    pub fn shown_url(&self) -> String {
        let path = self.paths.first().map_or("", String::as_str);
        let (origin, path) = (self.url.origin().ascii_serialization(), without_secret_parameters(path));
        match GRPC_SCHEMES.iter().find(|(_, beneath)| self.is_grpc && *beneath == self.url.scheme()) {
            Some((scheme, beneath)) => format!("{scheme}{}{path}", &origin[beneath.len()..]),
            None => format!("{origin}{path}"),
        }
    }
}

fn is_grpc(text: &str) -> bool {
    GRPC_SCHEMES.iter().any(|(grpc, _)| *grpc == split_scheme(text).0)
}

/// The scheme, http where none is written, and what follows. A query may have another URL in it.
fn split_scheme(text: &str) -> (&str, &str) {
    let is_scheme = |before: &str| before.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    text.split_once("://").filter(|(before, _)| is_scheme(before)).unwrap_or(("http", text))
}

/// A URL as people write it: without a scheme it is http.
pub(super) fn parse_url(text: &str) -> anyhow::Result<Url> {
    let (scheme, rest) = split_scheme(text);
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        return Err(wrong_usage(format!(
            "\"{text}\" is not a URL; a flag that may stand alone has its value after =: --follow={text}"
        )));
    }
    // The parser would take the path for the host.
    if rest.starts_with(['/', '?', '#']) {
        return Err(wrong_usage(format!("\"{text}\" names no host; if it came from a variable, that is empty")));
    }
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or(rest);
    if host.contains("{{") {
        return Err(wrong_usage(format!(
            "\"{text}\" has a variable in its host, and a load is for one server; write that server, and for other names of it add \
             -H 'Host: {{{{column}}}}'"
        )));
    }
    let beneath = GRPC_SCHEMES.iter().find(|(grpc, _)| *grpc == scheme).map_or(scheme, |(_, beneath)| beneath);
    let url = Url::parse(&format!("{beneath}://{rest}")).map_err(|why| {
        wrong_usage(format!("\"{text}\" is not a URL ({why}); write for example http://127.0.0.1:8080/path"))
    })?;
    if !url.username().is_empty() || url.password().is_some() {
        let place = url.origin().ascii_serialization();
        return Err(wrong_usage(format!("{place}: a user in a URL would not be sent; give it with -a USER:PASSWORD")));
    }
    match url.scheme() {
        "http" | "https" | "ws" | "wss" => Ok(url),
        scheme => Err(wrong_usage(format!(
            "{text}: tare does not speak \"{scheme}\"; give a URL that begins with http://, https://, grpc://, grpcs://, ws:// or wss://"
        ))),
    }
}

/// Path and query as they are written, so that `/a/../b` is asked for and not `/b`. What no request line can have is
/// encoded, but not in variables, whose names may have blanks.
fn path(text: &str) -> String {
    let (_, rest) = split_scheme(text.trim());
    let rest = rest.split('#').next().unwrap_or(rest);
    let path = rest.find(['/', '?', '\\']).map_or("", |at| &rest[at..]);
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let encoded = |text: &str| utf8_percent_encode(text, NOT_IN_A_LINE).to_string();
    let (mut all, mut rest) = (String::new(), &*path);
    while let Some(begin) = rest.find("{{") {
        let is_variable = !rest[..begin].ends_with('\\');
        let end = rest[begin..].find("}}").filter(|_| is_variable).map_or(begin + 2, |length| begin + length + 2);
        all += &encoded(&rest[..begin]);
        all += &rest[begin..end];
        rest = &rest[end..];
    }
    all + &encoded(rest)
}

/// Addresses, and why they get no load.
type Unused = (String, String);

/// The addresses of a host at which a server listens, at least one, of the family of the first; and those that get no load.
/// Those of the other family are most often the same server again.
fn addresses(host: &str, port: u16, timeout: Duration) -> anyhow::Result<(Vec<SocketAddr>, Vec<Unused>)> {
    let (mut listening, mut silent, mut of_other_family) = (Vec::<SocketAddr>::new(), Vec::new(), Vec::new());
    let resolved = (host, port).to_socket_addrs();
    for address in resolved.with_context(|| format!("the name \"{host}\" does not resolve; is it spelt right?"))? {
        if listening.first().is_some_and(|first| first.is_ipv4() != address.is_ipv4()) {
            of_other_family.push(address);
        } else if !listening.contains(&address) {
            match TcpStream::connect_timeout(&address, timeout) {
                Ok(_) => listening.push(address),
                Err(error) => silent.push((address, error)),
            }
        }
    }
    let Some(first) = listening.first() else {
        let Some((address, error)) = silent.first() else { bail!("{host} has no address") };
        bail!("{}", unreachable(&address.to_string(), error))
    };
    // Everybody knows that localhost has two.
    silent.retain(|(address, _)| !address.ip().is_loopback() || address.is_ipv4() == first.is_ipv4());
    of_other_family.retain(|address| !address.ip().is_loopback());
    let mut unused: Vec<_> =
        silent.into_iter().map(|(address, error)| (address.to_string(), error.to_string())).collect();
    if !of_other_family.is_empty() {
        let why = format!("connections go to {} alone", if first.is_ipv4() { "IPv4" } else { "IPv6" });
        unused.push((shown(&of_other_family), why));
    }
    Ok((listening, unused))
}

fn shown(addresses: &[SocketAddr]) -> String {
    addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(", ")
}

fn unreachable(place: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
            format!("nothing listens on {place} ({error}); start the server, or correct the address")
        }
        io::ErrorKind::TimedOut => {
            format!("{place} does not answer; is it the right address, and does a firewall let you through?")
        }
        _ => format!("cannot connect to {place}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(urls: &[&str]) -> anyhow::Result<LoadTarget> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let urls: Vec<String> = urls.iter().map(|url| url.replace("PORT", &port)).collect();
        LoadTarget::from_urls(&urls, (None, None), Some(Duration::from_secs(1)))
            .map(|place| LoadTarget { host: place.host.replace(&port, "PORT"), ..place })
    }

    #[test]
    fn urls_become_a_target_and_paths() {
        let place = of(&["127.0.0.1:PORT", "http://127.0.0.1:PORT/a/b?c=d#e"]).unwrap();
        assert_eq!((place.host.as_str(), place.paths), ("127.0.0.1:PORT", vec!["/".to_owned(), "/a/b?c=d".to_owned()]));
        let variables = of(&["127.0.0.1:PORT/a/{{id}}?b={{c}}#d"]).unwrap();
        assert_eq!(variables.paths, ["/a/{{id}}?b={{c}}"]);
        for (written, path) in [("?b={{c}}", "/?b={{c}}"), ("?b={{c}}/d", "/?b={{c}}/d"), ("#{{c}}/d", "/")] {
            assert_eq!(of(&[&format!("127.0.0.1:PORT{written}")]).unwrap().paths, [path]);
        }
        let inner = of(&["127.0.0.1:PORT/login?next=https://shop.example/a"]).unwrap();
        assert_eq!((inner.url.scheme(), &*inner.paths[0]), ("http", "/login?next=https://shop.example/a"));
        // As they are written, but for what no request line can have.
        for (written, path) in [
            ("/a/../b//c/./", "/a/../b//c/./"),
            ("/%2e%2E/a%2fb%zz", "/%2e%2E/a%2fb%zz"),
            ("/a b?c=ä|\"'<>^`[]{}#d", "/a%20b?c=%C3%A4|\"'<>^`[]{}"),
            ("?a=b/../c", "/?a=b/../c"),
            ("/ä b/{{a b}}/ä?c=\\{{d e}}", "/%C3%A4%20b/{{a b}}/%C3%A4?c=\\{{d%20e}}"),
            ("/a \n", "/a"),
        ] {
            assert_eq!(of(&[&format!("http://127.0.0.1:PORT{written}")]).unwrap().paths, [path]);
        }
        assert!(variables.shown_url().ends_with("/a/{{id}}?b={{c}}"), "{}", variables.shown_url());
        let secret = of(&["127.0.0.1:PORT/a?api_key=hush&b=1"]).unwrap();
        assert!(secret.shown_url().ends_with("/a?api_key=***&b=1") && secret.paths[0].contains("hush"));
        assert_eq!(of(&["http://localhost:PORT/"]).unwrap().host, "localhost:PORT");
        let call = of(&["grpc://127.0.0.1:PORT/a.B/C"]).unwrap();
        assert!(call.is_grpc && call.url.scheme() == "http" && call.paths == ["/a.B/C"]);
        assert!(call.shown_url().starts_with("grpc://127.0.0.1:") && call.shown_url().ends_with("/a.B/C"));
    }

    #[test]
    fn an_address_without_a_connection_is_named_as_unused() {
        let with = |connections| {
            let mut place = of(&["http://127.0.0.1:PORT/"]).unwrap();
            place.further_addresses = [2, 3].map(|last| SocketAddr::from(([127, 0, 0, last], 80))).into();
            place.leave_addresses_without_connection(connections);
            (place.further_addresses.len(), place.unused_addresses)
        };
        let (used, unused) = with(1);
        assert_eq!((used, unused[0].0.as_str()), (0, "127.0.0.2:80, 127.0.0.3:80"));
        assert!(unused[0].1.contains("more addresses than connections"), "{unused:?}");
        assert_eq!((with(2).0, with(3)), (1, (2, Vec::new())));
    }

    #[test]
    fn a_name_and_the_address_that_is_connected_to_may_differ() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let address: ConnectTo = format!("127.0.0.1:{port}").parse().unwrap();
        let within = Some(Duration::from_secs(1));
        let place =
            LoadTarget::from_urls(&["https://shop.example/a".to_owned()], (None, Some(&address)), within).unwrap();
        assert_eq!(place.target.tcp_address().unwrap().port(), port);
        assert_eq!((place.host.as_str(), place.shown_url().as_str()), ("shop.example", "https://shop.example/a"));
        for wrong in ["127.0.0.1", "", ":80", "a:b", "a:1:b:2", "127.0.0.1:0"] {
            assert!(wrong.parse::<ConnectTo>().is_err(), "{wrong}");
        }
        assert_eq!("[::1]:8443".parse::<ConnectTo>().unwrap().host, "::1");
    }

    #[test]
    fn what_cannot_be_loaded_is_said_in_one_sentence() {
        for (urls, words) in [
            (&["http://"][..], "is not a URL"),
            (&["http:///x"], "\"http:///x\" names no host; if it came from a variable, that is empty"),
            (&["/x"], "names no host"),
            (&["http://{{h}}:PORT/{{p}}"], "has a variable in its host, and a load is for one server"),
            (&["http://127.0.0.1:PORT/", "3"], "\"3\" is not a URL; a flag that may stand alone has its value after ="),
            (&["http://127.0.0.1:99999/"], "is not a URL (invalid port number)"),
            (&["http://ada:secret@127.0.0.1:PORT/"], "give it with -a USER:PASSWORD"),
            (&["ftp://127.0.0.1:PORT/"], "does not speak \"ftp\""),
            (&["http://127.0.0.1:PORT/", "http://127.0.0.2:PORT/"], "different servers"),
            (&["http://127.0.0.1:PORT/", "grpc://127.0.0.1:PORT/a.B/C"], "other requests are different loads"),
            (&["http://no-such-host.invalid/"], "\"no-such-host.invalid\" does not resolve"),
            (&["http://127.0.0.1:1/"], "nothing listens on 127.0.0.1:1 (Connection refused"),
            (&["http://[::1]:1/"], "[::1]:1"),
            (&["http://[fe80::1%25eth0]:1/"], "is not a URL (invalid IPv6 address)"),
        ] {
            let error = of(urls).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{urls:?}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
