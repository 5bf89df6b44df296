//! Which servers are trusted, when neither the system's authorities nor plain text apply.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// Where no signature is verified, a server may sign in any way.
const ALL_SCHEMES: [SignatureScheme; 16] = [
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::ED448,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
    // The same of keys that are for RSA-PSS alone (RFC 8446, section 4.2.3).
    SignatureScheme::Unknown(0x0809),
    SignatureScheme::Unknown(0x080a),
    SignatureScheme::Unknown(0x080b),
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::ECDSA_SHA1_Legacy,
    SignatureScheme::RSA_PKCS1_SHA1,
];

/// Which certificates of a server are trusted.
#[derive(Debug)]
pub(super) enum Verifier {
    /// Those of the given authorities, and the given ones themselves, which self-signed servers show as their own.
    Named { authorities: Arc<WebPkiServerVerifier>, named: Vec<CertificateDer<'static>> },
    /// Any, also one that the library cannot read, such as one of version 1. The signature of the handshake is not
    /// verified either: whoever stands between can show a certificate of its own, and sign with its key.
    Any,
}

impl Verifier {
    pub(super) fn of_named(
        named: Vec<CertificateDer<'static>>,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in &named {
            roots.add(certificate.clone()).map_err(|error| error.to_string())?;
        }
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        Ok(Self::Named { authorities: authorities.build().map_err(|error| error.to_string())?, named })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        staple: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Self::Named { authorities, named } = self else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(shown, chain, name, staple, now) {
            // The library checks this after the dates and before the name.
            Err(error) if is_of_an_authority(&error) && named.contains(shown) => {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Named { authorities, .. } => authorities.verify_tls12_signature(message, certificate, signed),
            Self::Any => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self {
            Self::Named { authorities, .. } => authorities.verify_tls13_signature(message, certificate, signed),
            Self::Any => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self {
            Self::Named { authorities, .. } => authorities.supported_verify_schemes(),
            Self::Any => ALL_SCHEMES.to_vec(),
        }
    }
}

/// Whether a certificate is refused because it is an authority's own.
pub(super) fn is_of_an_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
