//! Reasons why TLS has failed, with a remedy.

use super::verify::is_of_an_authority;
use rustls::{AlertDescription, CertificateError, Error};

/// The reason, and the remedy if one is known. `is_established` says whether the handshake had succeeded.
pub(super) fn explain(error: &Error, is_established: bool) -> String {
    match error {
        _ if is_of_an_authority(error) => {
            "the server has signed its certificate itself; name the file (--cacert), or check nothing (--insecure)"
                .to_owned()
        }
        Error::InvalidCertificate(reason) => format!("{error}{}", remedy_of_certificate(reason)),
        Error::InvalidMessage(_) if !is_established => {
            format!("{error}: does the server speak TLS on this port at all?")
        }
        Error::AlertReceived(alert) => format!("the server refuses: {error}{}", remedy_of_alert(*alert)),
        _ => error.to_string(),
    }
}

fn remedy_of_certificate(reason: &CertificateError) -> &'static str {
    match reason {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "; name the authority's file (--cacert), or check nothing (--insecure)"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "; renew the server's certificate, set this machine's clock, or check nothing (--insecure)"
        }
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
        AlertDescription::NoApplicationProtocol => "; it does not speak this version of HTTP",
        AlertDescription::UnrecognisedName => "; it does not know this server name",
        _ => "",
    }
}
