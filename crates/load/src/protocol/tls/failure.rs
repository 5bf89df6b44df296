//! Reasons why TLS has failed, with a remedy.

use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};

use tare_units::duration;

use super::verify::is_of_an_authority;
use crate::error::LoadError;

/// What tare can speak, which a test holds against the library.
const OFFER: &str = "tare offers TLS 1.3, and TLS 1.2 with ECDHE and AES-GCM or ChaCha20, for certificates with these keys: RSA of \
                     2048 bits or more, P-256, P-384, Ed25519";
/// An alert does not say what its sender would accept.
const ASK: &str = "`openssl s_client -connect HOST:PORT` shows what the server speaks";

/// What of the settings cannot be used, and what to do about it.
pub(super) fn unusable_setting(what: String, remedy: &str) -> LoadError {
    LoadError::unavailable(format!("TLS: {what}"), remedy)
}

/// The reason, and the remedy if one is known. `is_established` says whether the handshake had succeeded.
pub(super) fn explain(error: &Error, is_established: bool) -> String {
    match error {
        _ if is_of_an_authority(error) => {
            "the server's certificate is not trusted: it is an authority's own, such as one that it has signed itself, and \
             --cacert does not name it; name its file (--cacert), or check nothing (--insecure)"
                .to_owned()
        }
        Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. }) if presented.is_empty() => {
            "the server's certificate has no name that counts: none in subjectAltName, and a common name alone is out of \
             use; issue it with subjectAltName, or check nothing (--insecure)"
                .to_owned()
        }
        Error::InvalidCertificate(CertificateError::Other(other))
            if matches!(other.0.downcast_ref(), Some(webpki::Error::UnsupportedCertVersion)) =>
        {
            "the server's certificate is of version 1, which cannot be verified; issue one of version 3, with \
             subjectAltName, or check nothing (--insecure)"
                .to_owned()
        }
        // The library's text is a list of the bytes of identifiers.
        Error::InvalidCertificate(
            CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. },
        ) => "the server's certificate is signed in a way that is not checked, such as with SHA-1; issue it with SHA-256, or check \
              nothing (--insecure)"
            .to_owned(),
        Error::InvalidCertificate(CertificateError::Other(other)) => {
            format!("the server's certificate is refused: {}; issue another, or check nothing (--insecure)", other.0)
        }
        Error::InvalidCertificate(CertificateError::ExpiredContext { time, not_after }) => {
            let since = duration(time.as_secs().saturating_sub(not_after.as_secs()) as f64);
            format!("the server's certificate expired {since} ago{}", remedy_of_certificate(&CertificateError::Expired))
        }
        Error::InvalidCertificate(CertificateError::NotValidYetContext { time, not_before }) => {
            let until = duration(not_before.as_secs().saturating_sub(time.as_secs()) as f64);
            format!("the server's certificate is valid only in {until}{}", remedy_of_certificate(&CertificateError::NotValidYet))
        }
        Error::InvalidCertificate(CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. }) => {
            "the server's certificate is not for servers; issue it with serverAuth in its extended key usage, or check nothing \
             (--insecure)"
                .to_owned()
        }
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the server's certificate is not trusted: --cacert does not name its authority; name the authority's file \
             (--cacert), or check nothing (--insecure)"
                .to_owned()
        }
        Error::InvalidCertificate(reason) => format!("{error}{}", remedy_of_certificate(reason)),
        Error::InvalidMessage(_) if !is_established => {
            format!("{error}: does the server speak TLS on this port at all?")
        }
        Error::AlertReceived(AlertDescription::HandshakeFailure) if !is_established => {
            format!(
                "the server refuses: it has no version, cipher suite or signature in common with tare; {OFFER}, so it \
                 may have only CBC or DHE suites, or want a client certificate (--cert); {ASK}"
            )
        }
        Error::AlertReceived(AlertDescription::ProtocolVersion) => {
            format!("the server refuses: it has no version in common with tare, or no signature; {OFFER}; {ASK}")
        }
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled,
        ) => format!("the server speaks only versions before TLS 1.2; {OFFER}; {ASK}"),
        Error::PeerIncompatible(_) => format!("{error}; {OFFER}; {ASK}"),
        Error::AlertReceived(alert) => format!("the server refuses: {error}{}", remedy_of_alert(*alert)),
        _ => error.to_string(),
    }
}

fn remedy_of_certificate(reason: &CertificateError) -> &'static str {
    match reason {
        CertificateError::BadSignature => {
            "; name the authority that signed it (--cacert), whose RSA keys have 2048 bits or more, or check nothing (--insecure)"
        }
        CertificateError::NotValidYet => "; set this machine's clock, or check nothing (--insecure)",
        CertificateError::Expired => "; renew it, set this machine's clock, or check nothing (--insecure)",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "; address the server by a name of its certificate, or check nothing (--insecure)"
        }
        _ => "",
    }
}

fn remedy_of_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CertificateRequired | AlertDescription::BadCertificate | AlertDescription::UnknownCA => {
            "; give a client certificate that it accepts (--cert, --key)"
        }
        AlertDescription::CertificateExpired => {
            "; the client certificate (--cert) has expired, or is not valid yet by the server's clock: renew it, or set the clocks"
        }
        AlertDescription::CertificateRevoked => "; the client certificate (--cert) is revoked: give another",
        AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::AccessDenied => {
            "; give a client certificate that it accepts (--cert, --key), with clientAuth if it has an extended key usage"
        }
        AlertDescription::NoApplicationProtocol => {
            "; it does not speak the version of HTTP that was asked for: add --http2, or leave it out"
        }
        AlertDescription::UnrecognisedName => "; it does not know this server name",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use rustls::SupportedCipherSuite;
    use rustls::crypto::ring;
    use rustls::pki_types::UnixTime;

    use super::*;

    #[test]
    fn the_offer_is_that_of_the_library() {
        let suites = ring::default_provider().cipher_suites;
        let (older, newest): (Vec<&SupportedCipherSuite>, Vec<_>) =
            suites.iter().partition(|suite| suite.tls13().is_none());
        assert!(!older.is_empty() && !newest.is_empty());
        for suite in older {
            let name = format!("{:?}", suite.suite());
            assert!(name.contains("ECDHE") && (name.contains("_GCM_") || name.contains("CHACHA20")), "{name}");
        }
    }

    fn at(seconds: u64) -> UnixTime {
        UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds))
    }

    fn sha1() -> Error {
        CertificateError::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id: vec![6, 9, 42],
            supported_algorithms: Vec::new(),
        }
        .into()
    }

    #[test]
    fn a_server_without_anything_in_common_is_told_from_one_that_refuses_a_certificate() {
        for (error, says) in [
            (Error::AlertReceived(AlertDescription::HandshakeFailure), "CBC or DHE"),
            (
                Error::AlertReceived(AlertDescription::ProtocolVersion),
                "no version in common with tare, or no signature",
            ),
            (CertificateError::BadSignature.into(), "RSA keys have 2048 bits or more"),
            (sha1(), "issue it with SHA-256"),
            (PeerIncompatible::ServerDoesNotSupportTls12Or13.into(), "only versions before TLS 1.2"),
            (PeerIncompatible::NoKxGroupsInCommon.into(), "tare offers TLS 1.3"),
            (Error::AlertReceived(AlertDescription::CertificateRequired), "give a client certificate"),
            (Error::AlertReceived(AlertDescription::CertificateExpired), "the client certificate (--cert) has expired"),
            (Error::AlertReceived(AlertDescription::UnsupportedCertificate), "with clientAuth"),
            (Error::AlertReceived(AlertDescription::NoApplicationProtocol), "asked for: add --http2, or leave it out"),
            (CertificateError::InvalidPurpose.into(), "issue it with serverAuth"),
            (
                CertificateError::ExpiredContext { time: at(900_000), not_after: at(0) }.into(),
                "expired 10 days ago; renew it",
            ),
            (
                CertificateError::NotValidYetContext { time: at(0), not_before: at(7200) }.into(),
                "is valid only in 2.0 h; set this machine's clock",
            ),
        ] {
            let text = explain(&error, false);
            assert!(text.contains(says), "{error:?}: {text}");
        }
    }
}
