//! What is spoken on the connections to a server: the version of HTTP, and TLS.

use serde::{Deserialize, Serialize};
use tare_units::{Span, named_values};

use crate::contract::Scenario;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LoadProtocol {
    /// HTTP/1.1.
    Http1 {
        /// Requests under way at a time on each connection.
        pipeline: u32,
    },
    /// HTTP/2.
    Http2 {
        /// Streams under way at a time on each connection.
        streams: u32,
    },
    /// HTTP/1.1: each response is a stream of events.
    Events {
        /// Events that are read of each stream; `None` for all that come.
        messages: Option<u64>,
    },
    /// WebSocket: a message is sent, and the next one is its answer.
    Exchange,
    /// WebSocket: the server pushes messages.
    Push {
        /// Time from one message to the next.
        period: Span,
        /// Messages that each user reads; `None` for all that come in time.
        messages: Option<u64>,
    },
}

/// Which server certificates are accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TlsTrust {
    /// Servers that the authorities of the operating system have certified.
    System,
    /// Servers that the authorities in a PEM file have certified.
    Authorities { file: String },
    /// Any.
    Any,
}

named_values! {
    pub enum HttpVersion: "a version of HTTP" {
        /// HTTP/1.1.
        Http1 = "http1",
        /// HTTP/2 without TLS.
        H2c = "h2c",
        /// HTTP/2 over TLS.
        H2 = "h2",
    }
}

/// TLS with a server, as a suite states it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsKeys {
    /// A PEM file of the authorities that are trusted; those of the operating system when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// Trust every certificate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
    /// A PEM file with the client's certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// A PEM file with its private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The name that the server's certificate must have; the host of its address when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

impl TlsKeys {
    /// Which certificates are accepted.
    pub fn trust(&self) -> TlsTrust {
        match &self.ca {
            _ if self.insecure => TlsTrust::Any,
            Some(file) => TlsTrust::Authorities { file: file.clone() },
            None => TlsTrust::System,
        }
    }

    fn contradiction(&self) -> Option<&'static str> {
        if self.insecure && self.ca.is_some() {
            return Some("insecure trusts every certificate, and ca some; leave out one of them");
        }
        let is_half = self.certificate.is_some() != self.key.is_some();
        is_half.then_some("certificate and key belong together; give both, or none")
    }

    /// The same with its files in `folder`, unless their paths are absolute.
    #[must_use]
    pub fn in_folder(&self, folder: Option<&str>) -> Self {
        let place = |file: &Option<String>| {
            file.as_ref().map(|file| match folder {
                Some(folder) if !file.starts_with('/') => format!("{folder}/{file}"),
                _ => file.clone(),
            })
        };
        Self { ca: place(&self.ca), certificate: place(&self.certificate), key: place(&self.key), ..self.clone() }
    }
}

/// What is spoken on the connections to a server; HTTP/1.1 without TLS by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transport {
    /// The protocol: HTTP/1.1 or HTTP/2.
    pub protocol: LoadProtocol,
    /// TLS; `None` without.
    pub tls: Option<TlsKeys>,
}

impl Default for Transport {
    fn default() -> Self {
        Self { protocol: LoadProtocol::Http1 { pipeline: 1 }, tls: None }
    }
}

impl Transport {
    /// Of what a suite states of a server, whose URL may begin with `https://`.
    ///
    /// # Errors
    /// The key, and what is wrong with it.
    pub fn of(
        version: Option<HttpVersion>,
        streams: Option<u32>,
        tls: Option<&TlsKeys>,
        url: Option<&str>,
    ) -> Result<Self, (&'static str, String)> {
        let is_https = url.is_some_and(|url| url.starts_with("https://"));
        let wrong = |key: &'static str, text: &str| Err((key, text.to_owned()));
        if url.is_some() && !is_https && (tls.is_some() || version == Some(HttpVersion::H2)) {
            return wrong("url", "names a server without TLS; write https://, or leave out tls and protocol = \"h2\"");
        }
        if version == Some(HttpVersion::H2c) && (tls.is_some() || is_https) {
            return wrong("protocol", "\"h2c\" is HTTP/2 without TLS; write \"h2\"");
        }
        if let Some(contradiction) = tls.and_then(TlsKeys::contradiction) {
            return wrong("tls", contradiction);
        }
        let protocol = match version.unwrap_or(HttpVersion::Http1) {
            HttpVersion::Http1 if streams.is_some() => {
                return wrong("streams", "are of HTTP/2; write protocol = \"h2c\" or \"h2\", or leave them out");
            }
            HttpVersion::Http1 => LoadProtocol::Http1 { pipeline: 1 },
            HttpVersion::H2c | HttpVersion::H2 => LoadProtocol::Http2 { streams: streams.unwrap_or(1) },
        };
        if streams == Some(0) {
            return wrong("streams", "must be at least 1");
        }
        let is_secure = is_https || tls.is_some() || version == Some(HttpVersion::H2);
        Ok(Self { protocol, tls: is_secure.then(|| tls.cloned().unwrap_or_default()) })
    }

    /// Whether it is HTTP/2.
    pub fn is_http2(&self) -> bool {
        matches!(self.protocol, LoadProtocol::Http2 { .. })
    }

    /// Why a scenario is not measured over it; `None` if it is.
    pub fn why_not(&self, scenario: &Scenario) -> Option<&'static str> {
        match (scenario.push.is_some(), scenario.is_event_stream()) {
            (true, true) if self.is_http2() => Some("a stream of events is read over HTTP/1.1"),
            (true, false) if *self != Self::default() => Some("a WebSocket is opened over HTTP/1.1 without TLS"),
            _ => None,
        }
    }

    /// Requests that a connection carries at a time.
    pub fn depth(&self) -> u32 {
        match self.protocol {
            LoadProtocol::Http2 { streams } => streams,
            LoadProtocol::Http1 { pipeline } => pipeline,
            LoadProtocol::Exchange | LoadProtocol::Push { .. } | LoadProtocol::Events { .. } => 1,
        }
    }

    /// In words, as the report names it: `HTTP/2 over TLS, 16 streams a connection`.
    pub fn text(&self) -> String {
        let tls = if self.tls.is_some() { " over TLS" } else { "" };
        match self.protocol {
            LoadProtocol::Http2 { streams: 1 } => format!("HTTP/2{tls}"),
            LoadProtocol::Http2 { streams } => format!("HTTP/2{tls}, {streams} streams a connection"),
            _ => format!("HTTP/1.1{tls}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_states_version_streams_and_tls() {
        let of =
            |version, streams, tls: Option<&TlsKeys>, url| Transport::of(version, streams, tls, url).unwrap().text();
        let any = TlsKeys { insecure: true, ..TlsKeys::default() };
        assert_eq!(of(None, None, None, None), "HTTP/1.1");
        assert_eq!(of(None, None, Some(&any), None), "HTTP/1.1 over TLS");
        assert_eq!(of(None, None, None, Some("https://a")), "HTTP/1.1 over TLS");
        assert_eq!(of(Some(HttpVersion::H2c), None, None, Some("http://a")), "HTTP/2");
        assert_eq!(of(Some(HttpVersion::H2), Some(16), None, None), "HTTP/2 over TLS, 16 streams a connection");
        assert_eq!(Transport::of(None, None, None, None).unwrap(), Transport::default());
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_key() {
        let any = TlsKeys { insecure: true, ..TlsKeys::default() };
        let both = TlsKeys { ca: Some("ca.pem".into()), ..any.clone() };
        let half = TlsKeys { key: Some("key.pem".into()), ..TlsKeys::default() };
        for (version, streams, tls, url, key) in [
            (Some(HttpVersion::H2c), None, Some(&any), None, "protocol"),
            (Some(HttpVersion::H2c), None, None, Some("https://a"), "protocol"),
            (Some(HttpVersion::H2), None, None, Some("http://a"), "url"),
            (None, None, Some(&any), Some("http://a"), "url"),
            (None, Some(4), None, None, "streams"),
            (Some(HttpVersion::H2c), Some(0), None, None, "streams"),
            (None, None, Some(&both), None, "tls"),
            (None, None, Some(&half), None, "tls"),
        ] {
            let (found, message) = Transport::of(version, streams, tls, url).unwrap_err();
            assert_eq!(found, key, "{message}");
        }
    }

    #[test]
    fn files_are_those_of_the_folder_of_the_suite() {
        let keys = TlsKeys { ca: Some("ca.pem".into()), key: Some("/abs/key.pem".into()), ..TlsKeys::default() };
        let placed = keys.in_folder(Some("suites"));
        assert_eq!((placed.ca.as_deref(), placed.key.as_deref()), (Some("suites/ca.pem"), Some("/abs/key.pem")));
        assert_eq!(keys.in_folder(None).ca.as_deref(), Some("ca.pem"));
    }
}
