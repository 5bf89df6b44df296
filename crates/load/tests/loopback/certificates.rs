//! Certificates for the tests, made when needed: an authority and those that it signs.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tare_load::Trust;
use tempfile::TempDir;

/// An authority that only the tests trust.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    folder: TempDir,
}

/// The validity of a certificate.
#[derive(Clone, Copy)]
pub enum Validity {
    Now,
    Past,
}

/// A certificate with its key, in memory and in files.
pub struct Issued {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    pub folder: TempDir,
}

impl Authority {
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        // Two authorities of one name with different keys would be another test case.
        params.distinguished_name.push(DnType::CommonName, format!("authority {:x?}", &key.public_key_raw()[..16]));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("authority.pem"), certificate.pem()).unwrap();
        Self { certificate: certificate.der().clone(), issuer: Issuer::new(params, key), folder }
    }

    /// The setting that trusts this certificate.
    pub fn trust(&self) -> Trust {
        Trust::Authorities(self.folder.path().join("authority.pem"))
    }

    /// A self-signed certificate of a server, as one command of OpenSSL makes it.
    pub fn of_itself(name: &str) -> (Issued, Trust) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let issued = Issued::of(&certificate, &key);
        let trust = Trust::Authorities(issued.files().0);
        (issued, trust)
    }

    pub fn issue(&self, name: &str, validity: Validity) -> Issued {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.replace(' ', "-")]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        if let Validity::Past = validity {
            params.not_after = date_time_ymd(2001, 1, 1);
        }
        Issued::of(&params.signed_by(&key, &self.issuer).unwrap(), &key)
    }
}

impl Issued {
    fn of(certificate: &Certificate, key: &KeyPair) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("certificate.pem"), certificate.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
        Self { certificate: certificate.der().clone(), key, folder }
    }

    /// The paths of certificate and key.
    pub fn files(&self) -> (PathBuf, PathBuf) {
        (self.folder.path().join("certificate.pem"), self.folder.path().join("key.pem"))
    }

    /// A server that shows this certificate and asks for none.
    pub fn server(&self) -> ServerConfig {
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        builder.with_single_cert(vec![self.certificate.clone()], self.key.clone_key()).unwrap()
    }

    /// A server that shows this certificate, and demands a client certificate of the authority.
    pub fn demanding(&self, authority: &Authority) -> ServerConfig {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate.clone()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let builder = builder.with_client_cert_verifier(verifier.unwrap());
        builder.with_single_cert(vec![self.certificate.clone()], self.key.clone_key()).unwrap()
    }
}
