//! Turns a [`TlsSpec`] into a configuration of rustls: trusted servers, the client's certificate, ALPN.

use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tare_sample::TlsTrust;

use super::failure::unusable_setting;
use super::pem;
use super::verify::Verifier;
use super::{Identity, TlsSpec};
use crate::error::LoadError;
use crate::protocol::{Protocol, speaks_http2};

/// TLS sessions that a worker remembers to resume them.
const REMEMBERED_SESSIONS: usize = 256;

#[derive(Clone, Debug)]
pub(crate) struct Security {
    pub(super) config: Arc<ClientConfig>,
    pub(super) server_name: ServerName<'static>,
    resumption: bool,
}

impl Security {
    pub(crate) fn new(spec: &TlsSpec, protocol: Protocol) -> Result<Self, LoadError> {
        let server_name = ServerName::try_from(spec.server_name.clone()).map_err(|_| LoadError::Spec {
            what: format!("TLS: `{}` is not the name of a server", spec.server_name),
            remedy: "use a DNS name or an IP address".to_owned(),
        })?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable_setting(error.to_string(), "this is a defect of tare, please report it"))?;
        let builder = match &spec.trust {
            TlsTrust::System => builder.with_root_certificates(roots_of_system()?),
            TlsTrust::Authorities { file } => {
                let verifier = Verifier::of_named(certificates(Path::new(file))?, &provider).map_err(|reason| {
                    unusable_setting(format!("{file}: {reason}"), "give the certificate of an authority, in PEM")
                })?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
            TlsTrust::Any => builder.dangerous().with_custom_certificate_verifier(Arc::new(Verifier::Any)),
        };
        let mut config = match &spec.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = read(identity)?;
                builder.with_client_auth_cert(chain, key).map_err(|error| {
                    let file = identity.certificate.display();
                    unusable_setting(
                        format!("{file}: {error}"),
                        "give a certificate and the private key that belongs to it: RSA, P-256, P-384 or Ed25519",
                    )
                })?
            }
        };
        let alpn: &[u8] = if speaks_http2(protocol) { b"h2" } else { b"http/1.1" };
        config.alpn_protocols = vec![alpn.to_vec()];
        if !spec.resumption {
            config.resumption = Resumption::disabled();
        }
        Ok(Self { config: Arc::new(config), server_name, resumption: spec.resumption })
    }

    /// The same configuration with its own store of TLS sessions, because workers share no mutable state.
    pub(crate) fn of_worker(&self) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        if self.resumption {
            config.resumption = Resumption::in_memory_sessions(REMEMBERED_SESSIONS);
        }
        Self { config: Arc::new(config), server_name: self.server_name.clone(), ..*self }
    }
}

/// The configuration of TLS connections with this protocol, and the name of the server, for a client of another crate.
pub fn tls_client(spec: &TlsSpec, protocol: Protocol) -> Result<(Arc<ClientConfig>, ServerName<'static>), LoadError> {
    Security::new(spec, protocol).map(|security| (security.config, security.server_name))
}

fn roots_of_system() -> Result<RootCertStore, LoadError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(unusable_setting(
            "this system trusts no authority".to_owned(),
            "install its certificates (ca-certificates), or name a file of authorities (--cacert)",
        ));
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let pem = pem::read(path, "certificates", "openssl x509 -inform der")?;
    let found = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
    let reason = match found {
        Ok(all) if !all.is_empty() => return Ok(all),
        Ok(_) => "there is no certificate in it".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(unusable_setting(format!("{}: {reason}", path.display()), "give a file of certificates in PEM"))
}

fn read(identity: &Identity) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), LoadError> {
    let pem = pem::read(&identity.key, "a private key", "openssl pkey -inform der")?;
    let key = PrivateKeyDer::from_pem_slice(&pem)
        .map_err(|error| pem::unusable_key(&identity.key, &pem, &error.to_string()))?;
    Ok((certificates(&identity.certificate)?, key))
}
