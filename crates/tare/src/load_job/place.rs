//! The target of a load: URLs become one target with a path each, and a server must listen there before the load
//! starts.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use tare_load::Target;
use url::{Host, Url};

use crate::failure::wrong_usage;
use crate::recorded_command::without_secret_parameters;

/// Who connects to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connector {
    /// This process. The server must listen; an attempt to connect takes this time at most.
    FromHere(Duration),
    /// Agents, which resolve the name themselves.
    FromAgents,
}

/// Where the load goes.
#[derive(Debug)]
pub struct LoadTarget {
    /// The first URL.
    pub url: Url,
    /// What is connected to.
    pub target: Target,
    /// The `Host` header: name and port as the URL has them.
    pub host: String,
    /// Path and query of each URL.
    pub paths: Vec<String>,
    /// Whether the paths are methods of gRPC. The URL then has the scheme of the HTTP beneath it.
    pub is_grpc: bool,
}

/// The schemes of gRPC, and those of the HTTP beneath it.
const GRPC_SCHEMES: [(&str, &str); 2] = [("grpc", "http"), ("grpcs", "https")];

impl LoadTarget {
    /// Parses the URLs, resolves their host and checks whether a server listens.
    ///
    /// # Errors
    /// A wrong URL, a name that does not resolve, or a port without a server, in one sentence.
    pub fn from_urls(urls: &[String], unix_socket: Option<&Path>, connector: Connector) -> anyhow::Result<Self> {
        let paths = urls.iter();
        let is_grpc = urls.first().is_some_and(|text| is_grpc(text));
        if let Some(other) = urls.iter().find(|text| self::is_grpc(text) != is_grpc) {
            return Err(wrong_usage(format!("{other}: calls of gRPC and other requests are different loads")));
        }
        let urls = urls.iter().map(|text| parse(text)).collect::<anyhow::Result<Vec<Url>>>()?;
        let paths = paths.zip(&urls).map(|(text, url)| path(text, url)).collect();
        let Some(first) = urls.first() else { bail!("there is no URL to load") };
        let origin = |url: &Url| url.origin();
        if let Some(other) = urls.iter().find(|url| origin(url) != origin(first)) {
            return Err(wrong_usage(format!(
                "{first} and {other} are on different servers; load one server at a time"
            )));
        }
        let target = match (unix_socket, connector) {
            (Some(path), Connector::FromHere(_)) => listening_file(path)?,
            (Some(path), Connector::FromAgents) => Target::Unix(path.to_owned()),
            (None, Connector::FromHere(timeout)) => Target::Tcp(listening(first, timeout)?),
            // Nothing of this process connects to it.
            (None, Connector::FromAgents) => Target::Tcp((Ipv4Addr::UNSPECIFIED, port(first)).into()),
        };
        let name = first.host_str().unwrap_or_default();
        let host = first.port().map_or(name.to_owned(), |port| format!("{name}:{port}"));
        Ok(Self { paths, url: first.clone(), target, host, is_grpc })
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
    text.split_once("://").is_some_and(|(scheme, _)| GRPC_SCHEMES.iter().any(|(grpc, _)| *grpc == scheme))
}

/// A URL as people write it: without a scheme it is http.
fn parse(text: &str) -> anyhow::Result<Url> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
    let beneath = GRPC_SCHEMES.iter().find(|(grpc, _)| *grpc == scheme).map_or(scheme, |(_, beneath)| beneath);
    let whole = format!("{beneath}://{rest}");
    let url = Url::parse(&whole).map_err(|why| {
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

/// Path and query; as written where they hold variables, whose braces a URL may not have.
fn path(text: &str, url: &Url) -> String {
    if text.contains("{{") {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let rest = rest.split('#').next().unwrap_or(rest);
        let path = rest.find(['/', '?']).map_or("", |at| &rest[at..]);
        return if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    }
    url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()))
}

/// The first address of the host at which a server listens. A name may have several, of IPv6 and IPv4.
fn listening(url: &Url, timeout: Duration) -> anyhow::Result<SocketAddr> {
    let addresses = resolve(url, port(url))?;
    let mut failure = None;
    for address in &addresses {
        match TcpStream::connect_timeout(address, timeout) {
            Ok(_) => return Ok(*address),
            Err(error) => failure = failure.or(Some((address, error))),
        }
    }
    let Some((address, error)) = failure else { bail!("{url}: its host has no address") };
    bail!("{}", unreachable(&address.to_string(), &error))
}

fn port(url: &Url) -> u16 {
    url.port_or_known_default().unwrap_or(80)
}

fn resolve(url: &Url, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    match url.host() {
        Some(Host::Ipv4(address)) => Ok(vec![(address, port).into()]),
        Some(Host::Ipv6(address)) => Ok(vec![(address, port).into()]),
        Some(Host::Domain(name)) => {
            let found = (name, port).to_socket_addrs();
            let found = found.with_context(|| format!("the name \"{name}\" does not resolve; is it spelt right?"))?;
            Ok(found.collect())
        }
        None => bail!("{url} has no host; write for example http://127.0.0.1:8080/path"),
    }
}

fn listening_file(path: &Path) -> anyhow::Result<Target> {
    match UnixStream::connect(path) {
        Ok(_) => Ok(Target::Unix(path.to_owned())),
        Err(error) => bail!("{}", unreachable(&path.display().to_string(), &error)),
    }
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
        LoadTarget::from_urls(&urls, None, Connector::FromHere(Duration::from_secs(1)))
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
        assert!(variables.shown_url().ends_with("/a/{{id}}?b={{c}}"), "{}", variables.shown_url());
        let secret = of(&["127.0.0.1:PORT/a?api_key=hush&b=1"]).unwrap();
        assert!(secret.shown_url().ends_with("/a?api_key=***&b=1") && secret.paths[0].contains("hush"));
        assert_eq!(of(&["http://localhost:PORT/"]).unwrap().host, "localhost:PORT");
        let call = of(&["grpc://127.0.0.1:PORT/a.B/C"]).unwrap();
        assert!(call.is_grpc && call.url.scheme() == "http" && call.paths == ["/a.B/C"]);
        assert!(call.shown_url().starts_with("grpc://127.0.0.1:") && call.shown_url().ends_with("/a.B/C"));
    }

    #[test]
    fn what_cannot_be_loaded_is_said_in_one_sentence() {
        for (urls, words) in [
            (&["http://"][..], "is not a URL"),
            (&["http://127.0.0.1:99999/"], "is not a URL (invalid port number)"),
            (&["http://ada:secret@127.0.0.1:PORT/"], "give it with -a USER:PASSWORD"),
            (&["ftp://127.0.0.1:PORT/"], "does not speak \"ftp\""),
            (&["http://127.0.0.1:PORT/", "http://127.0.0.2:PORT/"], "different servers"),
            (&["http://127.0.0.1:PORT/", "grpc://127.0.0.1:PORT/a.B/C"], "other requests are different loads"),
            (&["http://no-such-host.invalid/"], "\"no-such-host.invalid\" does not resolve"),
            (&["http://127.0.0.1:1/"], "nothing listens on 127.0.0.1:1 (Connection refused"),
            (&["http://[::1]:1/"], "[::1]:1"),
        ] {
            let error = of(urls).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains('\n'), "{urls:?}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
