//! Certificates for the tests, made when needed: an authority and those that it signs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use tare_load::TlsTrust;
use tempfile::TempDir;

/// An authority that only the tests trust.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    folder: TempDir,
}

/// The setting that trusts the certificates in this file.
pub fn trusting(file: &Path) -> TlsTrust {
    TlsTrust::Authorities { file: file.display().to_string() }
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
    pub fn trust(&self) -> TlsTrust {
        trusting(&self.folder.path().join("authority.pem"))
    }

    /// A self-signed certificate of a server, as one command of OpenSSL makes it.
    pub fn of_itself(name: &str) -> (Issued, TlsTrust) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        let issued = Issued::of(&certificate, &key);
        let trust = trusting(&issued.files().0);
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

    /// A server that shows this certificate as one of version 1, which OpenSSL makes without extensions.
    pub fn server_of_version_1(&self) -> ServerConfig {
        let key = ring::sign::any_supported_type(&self.key).unwrap();
        let certified = CertifiedKey::new(vec![version_1(&self.certificate).into()], key);
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)))
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

/// A certificate without its version and its extensions, and so of version 1. Its signature no longer fits.
fn version_1(certificate: &[u8]) -> Vec<u8> {
    let (_, whole, _) = element(certificate);
    let (_, signed, signature) = element(whole);
    let mut fields = Vec::new();
    let mut rest = signed;
    while !rest.is_empty() {
        let (tag, _, behind) = element(rest);
        // [0] is the version, [3] the extensions.
        if !matches!(tag, 0xa0 | 0xa3) {
            fields.extend_from_slice(&rest[..rest.len() - behind.len()]);
        }
        rest = behind;
    }
    sequence(&[&sequence(&fields)[..], signature].concat())
}

/// The first element of DER: its tag, its contents, and what is behind it.
fn element(bytes: &[u8]) -> (u8, &[u8], &[u8]) {
    let (length, from) = match bytes[1] {
        short @ 0..0x80 => (usize::from(short), 2),
        long => {
            let from = 2 + usize::from(long & 0x7f);
            (bytes[2..from].iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), from)
        }
    };
    (bytes[0], &bytes[from..from + length], &bytes[from + length..])
}

fn sequence(contents: &[u8]) -> Vec<u8> {
    let length = u16::try_from(contents.len()).unwrap().to_be_bytes();
    [&[0x30, 0x82], &length[..], contents].concat()
}
