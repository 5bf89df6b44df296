//! What a suite states of connections: protocol, streams, TLS and its resumption.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
pub use tare_sample::TlsTrust;
use tare_units::named_values;

named_values! {
    pub enum HttpVersion: "a version of HTTP" {
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

    /// The same with its files in the folder of `file`, which names them, unless their paths are absolute.
    #[must_use]
    pub(crate) fn beside(&self, file: &str) -> Self {
        let beside = |named: &String| Path::new(file).with_file_name(named).display().to_string();
        let place = |named: &Option<String>| named.as_ref().map(beside);
        Self { ca: place(&self.ca), certificate: place(&self.certificate), key: place(&self.key), ..self.clone() }
    }

    /// Whether it says neither whom to trust nor whom to meet.
    pub(crate) fn trusts_as_usual(&self) -> bool {
        self.ca.is_none() && !self.insecure && self.server_name.is_none()
    }
}

/// As people read it: whom it trusts, and whom it must meet.
impl fmt::Display for TlsKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.ca, self.insecure) {
            (Some(file), _) => f.write_str(file)?,
            (None, true) => f.write_str("any certificate")?,
            (None, false) => f.write_str("the system's authorities")?,
        }
        if let Some(name) = &self.server_name {
            write!(f, ", for {name}")?;
        }
        self.certificate.as_ref().map_or(Ok(()), |file| write!(f, ", as {file}"))
    }
}

/// What a suite states of connections: those to a server, those of a scenario, or all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransportKeys {
    pub protocol: Option<HttpVersion>,
    pub streams: Option<u32>,
    pub resumption: Option<bool>,
    pub tls: Option<TlsKeys>,
}

impl TransportKeys {
    pub const NAMES: [&'static str; 4] = ["protocol", "streams", "resumption", "tls"];

    /// The values of [`Self::NAMES`], as people read them.
    pub fn texts(&self) -> [Option<String>; 4] {
        let Self { protocol, streams, resumption, tls } = self;
        [
            protocol.map(|protocol| protocol.to_string()),
            streams.map(|streams| streams.to_string()),
            resumption.map(|resumption| resumption.to_string()),
            tls.as_ref().map(ToString::to_string),
        ]
    }

    /// These, and those of `other` that are not stated here.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            protocol: self.protocol.or(other.protocol),
            streams: self.streams.or(other.streams),
            resumption: self.resumption.or(other.resumption),
            tls: self.tls.or(other.tls),
        }
    }

    /// What is wrong with one of them, or with two of them together: the key, and why.
    pub(crate) fn contradiction(&self) -> Option<(&'static str, String)> {
        let wrong = |key, text: &str| Some((key, text.to_owned()));
        if self.protocol == Some(HttpVersion::H2c) && self.tls.is_some() {
            return wrong("protocol", "\"h2c\" is HTTP/2 without TLS; write \"h2\"");
        }
        if let Some(contradiction) = self.tls.as_ref().and_then(TlsKeys::contradiction) {
            return wrong("tls", contradiction);
        }
        if self.protocol == Some(HttpVersion::Http1) && self.streams.is_some() {
            let message = "are of HTTP/2; write protocol = \"h2c\" or \"h2\", or leave them out";
            return wrong("streams", message);
        }
        if self.protocol == Some(HttpVersion::H2c) && self.resumption.is_some() {
            return wrong("resumption", NO_SESSIONS);
        }
        if self.streams == Some(0) {
            return wrong("streams", "must be at least 1");
        }
        None
    }
}

pub(crate) const NO_SESSIONS: &str = "is of TLS; write tls or protocol = \"h2\", or leave it out";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_of_the_folder_of_the_suite() {
        let keys = TlsKeys { ca: Some("ca.pem".into()), key: Some("/abs/key.pem".into()), ..TlsKeys::default() };
        let placed = keys.beside("suites/mine.toml");
        assert_eq!((placed.ca.as_deref(), placed.key.as_deref()), (Some("suites/ca.pem"), Some("/abs/key.pem")));
        assert_eq!(keys.beside("mine.toml").ca.as_deref(), Some("ca.pem"));
    }
}
