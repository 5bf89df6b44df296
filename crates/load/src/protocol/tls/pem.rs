//! Files of keys and certificates: what is in those that are not in PEM, and how to convert them.

use std::path::Path;

use super::failure::unusable_setting;
use crate::error::LoadError;

/// The bytes of a file that should hold `content` in PEM. The error says how to convert another form: DER by `convert`.
pub(super) fn read(path: &Path, content: &str, convert: &str) -> Result<Vec<u8>, LoadError> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|error| {
        unusable_setting(format!("{shown}: {error}"), &format!("give a readable file with {content} in PEM"))
    })?;
    if contains(&bytes, b"-----BEGIN") {
        // Editors of Windows write a mark first, behind which no reader sees the first certificate.
        return Ok(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).to_vec());
    }
    let (form, command) = if is_pkcs12(&bytes) {
        ("PKCS#12", format!("openssl pkcs12 -in {shown} -nodes -out all.pem"))
    } else if bytes.starts_with(&[SEQUENCE]) {
        ("DER", format!("{convert} -in {shown} -out converted.pem"))
    } else {
        return Err(unusable_setting(format!("{shown} is not in PEM"), &format!("give a file with {content} in PEM")));
    };
    Err(unusable_setting(format!("{shown} is in {form}, and not in PEM"), &format!("convert it: {command}")))
}

pub(super) fn unusable_key(path: &Path, pem: &[u8], why: &str) -> LoadError {
    let shown = path.display();
    if contains(pem, b"ENCRYPTED") {
        let command = format!("openssl pkey -in {shown} -out decrypted.pem");
        return unusable_setting(
            format!("{shown}: the private key is encrypted, and tare asks for no password"),
            &format!("decrypt it: {command}"),
        );
    }
    unusable_setting(format!("{shown}: no private key: {why}"), "give a file with a private key in PEM (--key)")
}

const SEQUENCE: u8 = 0x30;
const VERSION_3: [u8; 3] = [0x02, 0x01, 0x03];

/// A sequence that begins with the number 3; certificates begin with another sequence, and keys with 0 or 1.
fn is_pkcs12(bytes: &[u8]) -> bool {
    let Some([SEQUENCE, length, rest @ ..]) = bytes.get(..) else { return false };
    // A long length is followed by as many bytes as its last bits say; 0x80 by none.
    let skipped = if length & 0x80 == 0 { 0 } else { usize::from(length & 0x7f) };
    rest.get(skipped..).is_some_and(|content| content.starts_with(&VERSION_3))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_other_forms_are_named_with_the_command_that_converts_them() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            read(&path, "certificates", "openssl x509 -inform der")
        };
        let says = |name: &str, bytes: &[u8]| read(name, bytes).unwrap_err().to_string();
        let store = says("a.p12", &[0x30, 0x82, 0x0a, 0x17, 0x02, 0x01, 0x03, 0x30]);
        assert!(
            store.contains("PKCS#12") && store.contains("openssl pkcs12 -in ") && store.contains("a.p12"),
            "{store}"
        );
        let certificate = says("a.der", &[0x30, 0x82, 0x03, 0x0f, 0x30, 0x82]);
        assert!(certificate.contains("DER") && certificate.contains("openssl x509 -inform der -in "), "{certificate}");
        assert!(says("a.txt", b"hello").contains("is not in PEM"));
        assert!(read("a.pem", b"text\n-----BEGIN CERTIFICATE-----\n").is_ok());
        assert_eq!(read("a.pem", b"\xef\xbb\xbf-----BEGIN A-----\n").unwrap(), b"-----BEGIN A-----\n");
        let key = |pem: &[u8]| unusable_key(Path::new("a.key"), pem, "no items found").to_string();
        for encrypted in [&b"-----BEGIN ENCRYPTED PRIVATE KEY-----"[..], b"RSA PRIVATE KEY\nProc-Type: 4,ENCRYPTED"] {
            assert!(key(encrypted).contains("openssl pkey -in a.key"), "{}", key(encrypted));
        }
        assert!(key(b"-----BEGIN CERTIFICATE-----").contains("--key"));
    }
}
