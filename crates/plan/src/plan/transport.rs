//! What is spoken on the connections to a server: the version of HTTP, and TLS.

use serde::{Deserialize, Serialize};
use tare_sample::Protocol;
use tare_wire::http::announces_close;

use crate::contract::transport_keys::NO_SESSIONS;
use crate::contract::{HttpVersion, Scenario, TlsKeys, TransportKeys};

/// What is spoken on the connections to a server; HTTP/1.1 without TLS by default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transport {
    /// The protocol: HTTP/1.1 or HTTP/2.
    pub protocol: Protocol,
    pub tls: Option<TlsKeys>,
    /// Each connection begins with a full handshake, and resumes no session of TLS.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_handshakes: bool,
}

impl Transport {
    /// Of what is stated of the connections to a server, whose URL may begin with `https://`. Errors: the key, and what
    /// is wrong with it.
    pub fn of(keys: &TransportKeys, url: Option<&str>) -> Result<Self, (&'static str, String)> {
        let version = keys.protocol.unwrap_or(HttpVersion::Http1);
        let is_https = url.is_some_and(|url| url.starts_with("https://"));
        let wrong = |key: &'static str, text: &str| Err((key, text.to_owned()));
        if url.is_some() && !is_https && (keys.tls.is_some() || version == HttpVersion::H2) {
            return wrong("url", "names a server without TLS; write https://, or leave out tls and protocol = \"h2\"");
        }
        let is_secure = is_https || keys.tls.is_some() || version == HttpVersion::H2;
        let tls = is_secure.then(|| keys.tls.clone().unwrap_or_default());
        let TransportKeys { streams, resumption, .. } = *keys;
        let spoken = TransportKeys { protocol: Some(version), streams, resumption, tls };
        spoken.contradiction().map_or(Ok(()), Err)?;
        if resumption.is_some() && !is_secure {
            return wrong("resumption", NO_SESSIONS);
        }
        let protocol = match version {
            HttpVersion::Http1 => Protocol::default(),
            HttpVersion::H2c | HttpVersion::H2 => Protocol::Http2 { streams: streams.unwrap_or(1) },
        };
        Ok(Self { protocol, tls: spoken.tls, full_handshakes: resumption == Some(false) })
    }

    /// All keys that mean something on these connections.
    pub(crate) fn keys(&self) -> TransportKeys {
        TransportKeys {
            protocol: Some(self.version()),
            streams: self.is_http2().then(|| self.protocol.depth()),
            resumption: self.tls.as_ref().map(|_| !self.full_handshakes),
            tls: self.tls.clone(),
        }
    }

    /// The version of HTTP, as a suite states it; HTTP/1.1 is the same with TLS and without.
    pub fn version(&self) -> HttpVersion {
        match (self.is_http2(), &self.tls) {
            (false, _) => HttpVersion::Http1,
            (true, None) => HttpVersion::H2c,
            (true, Some(_)) => HttpVersion::H2,
        }
    }

    pub fn is_http2(&self) -> bool {
        matches!(self.protocol, Protocol::Http2 { .. })
    }

    /// Why a scenario is not measured over it; `None` if it is.
    pub fn why_not(&self, scenario: &Scenario) -> Option<&'static str> {
        if scenario.protocol.is_some_and(|protocol| protocol != self.version()) {
            return Some("it is sent in another protocol");
        }
        let closes = || scenario.request.headers.iter().any(|(name, value)| announces_close(name, value));
        if self.is_http2() && closes() {
            return Some("it closes each connection, and those of HTTP/2 stay open");
        }
        let is_websocket = scenario.push.is_some() && !scenario.is_event_stream();
        (is_websocket && *self != Self::default()).then_some("a WebSocket is opened over HTTP/1.1 without TLS")
    }

    /// In words, as the report names it: `HTTP/2 over TLS, 16 streams a connection`.
    pub fn text(&self) -> String {
        let tls = match (&self.tls, self.full_handshakes) {
            (None, _) => "",
            (Some(_), false) => " over TLS",
            (Some(_), true) => " over TLS without resumption",
        };
        match self.protocol {
            Protocol::Http2 { streams: 1 } => format!("HTTP/2{tls}"),
            Protocol::Http2 { streams } => format!("HTTP/2{tls}, {streams} streams a connection"),
            _ => format!("HTTP/1.1{tls}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_states_version_streams_and_tls() {
        let of = |protocol, streams, tls: Option<&TlsKeys>, url| {
            let keys = TransportKeys { protocol, streams, tls: tls.cloned(), resumption: None };
            Transport::of(&keys, url).unwrap().text()
        };
        let any = TlsKeys { insecure: true, ..TlsKeys::default() };
        assert_eq!(of(None, None, None, None), "HTTP/1.1");
        assert_eq!(of(None, None, Some(&any), None), "HTTP/1.1 over TLS");
        assert_eq!(of(None, None, None, Some("https://a")), "HTTP/1.1 over TLS");
        assert_eq!(of(Some(HttpVersion::H2c), None, None, Some("http://a")), "HTTP/2");
        assert_eq!(of(Some(HttpVersion::H2), Some(16), None, None), "HTTP/2 over TLS, 16 streams a connection");
        assert_eq!(Transport::of(&TransportKeys::default(), None).unwrap(), Transport::default());
        let full = TransportKeys { tls: Some(any), resumption: Some(false), ..TransportKeys::default() };
        assert_eq!(Transport::of(&full, None).unwrap().text(), "HTTP/1.1 over TLS without resumption");
        let resumed = TransportKeys { resumption: Some(true), ..full };
        assert_eq!(Transport::of(&resumed, None).unwrap().text(), "HTTP/1.1 over TLS");
    }

    #[test]
    fn connections_that_a_scenario_closes_are_those_of_http_1() {
        let mut scenario = Scenario::default();
        let why_not = |protocol: HttpVersion, scenario: &Scenario| {
            let keys = TransportKeys { protocol: Some(protocol), ..TransportKeys::default() };
            Transport::of(&keys, None).unwrap().why_not(scenario)
        };
        assert_eq!(why_not(HttpVersion::H2c, &scenario), None);
        scenario.request.headers.insert("connection".to_owned(), "Close".to_owned());
        assert_eq!(why_not(HttpVersion::Http1, &scenario), None);
        let says = Some("it closes each connection, and those of HTTP/2 stay open");
        assert_eq!([HttpVersion::H2c, HttpVersion::H2].map(|protocol| why_not(protocol, &scenario)), [says; 2]);
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_key() {
        let any = TlsKeys { insecure: true, ..TlsKeys::default() };
        let both = TlsKeys { ca: Some("ca.pem".into()), ..any.clone() };
        let half = TlsKeys { key: Some("key.pem".into()), ..TlsKeys::default() };
        for (protocol, streams, resumption, tls, url, key) in [
            (Some(HttpVersion::H2c), None, None, Some(&any), None, "protocol"),
            (Some(HttpVersion::H2c), None, None, None, Some("https://a"), "protocol"),
            (Some(HttpVersion::H2), None, None, None, Some("http://a"), "url"),
            (None, None, None, Some(&any), Some("http://a"), "url"),
            (None, Some(4), None, None, None, "streams"),
            (Some(HttpVersion::H2c), Some(0), None, None, None, "streams"),
            (None, None, Some(true), None, None, "resumption"),
            (Some(HttpVersion::H2c), None, Some(false), None, None, "resumption"),
            (None, None, None, Some(&both), None, "tls"),
            (None, None, None, Some(&half), None, "tls"),
        ] {
            let keys = TransportKeys { protocol, streams, resumption, tls: tls.cloned() };
            let (found, message) = Transport::of(&keys, url).unwrap_err();
            assert_eq!(found, key, "{message}");
        }
    }
}
