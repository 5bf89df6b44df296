//! The requests of a load, from the flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use tare_load::{Body, Method, RequestSpec};

use crate::args::{ConnectionArgs, RequestArgs};

/// One request per path.
pub fn requests(paths: &[String], args: &RequestArgs, connection: &ConnectionArgs) -> anyhow::Result<Vec<RequestSpec>> {
    let (body, content_type) = body(args)?;
    let method = match &args.method {
        Some(name) => {
            Method::named(name).map_err(|_| anyhow::anyhow!("\"{name}\" is no method; write for example GET"))?
        }
        None if body.is_some() => Method::post(),
        None => Method::get(),
    };
    let mut headers = args.header.iter().map(|line| header(line)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut add = |name: &str, value: Option<String>| {
        let given = headers.iter().any(|(known, _): &(String, String)| known.eq_ignore_ascii_case(name));
        headers.extend(value.filter(|_| !given).map(|value| (name.to_owned(), value)));
    };
    add("Content-Type", args.content_type.clone().or(content_type));
    add("Accept", args.accept.clone());
    add("Authorization", args.basic_auth.as_ref().map(|pair| format!("Basic {}", base64(pair.as_bytes()))));
    add("Connection", connection.no_keepalive.then(|| "close".to_owned()));
    let body = body.unwrap_or_default();
    let request = |path: &String| RequestSpec {
        method: method.clone(),
        headers: headers.clone(),
        body: Body::Bytes(Arc::clone(&body)),
        ..RequestSpec::get(path)
    };
    Ok(paths.iter().map(request).collect())
}

type TypedBody = (Option<Arc<[u8]>>, Option<String>);

/// The body and the type that its flag implies.
fn body(args: &RequestArgs) -> anyhow::Result<TypedBody> {
    let typed = |body: Vec<u8>, kind: &str| (Some(body.into()), Some(kind.to_owned()));
    if let Some(text) = &args.data_json {
        let body = text_or_file(text)?;
        let checked = serde_json::from_slice::<serde::de::IgnoredAny>(&body);
        checked.map_err(|why| anyhow::anyhow!("the body of --data-json is no JSON: {why}"))?;
        return Ok(typed(body, "application/json"));
    }
    if !args.form.is_empty() {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        for field in &args.form {
            let pair = field.split_once('=');
            let Some((name, value)) = pair else { bail!("--form \"{field}\" has no value; write NAME=VALUE") };
            form.append_pair(name, value);
        }
        return Ok(typed(form.finish().into_bytes(), "application/x-www-form-urlencoded"));
    }
    match (&args.data, &args.body_file) {
        (Some(text), _) => Ok((Some(text_or_file(text)?.into()), None)),
        (None, Some(file)) => Ok((Some(read(file)?.into()), None)),
        (None, None) => Ok((None, None)),
    }
}

fn text_or_file(text: &str) -> anyhow::Result<Vec<u8>> {
    text.strip_prefix('@').map_or_else(|| Ok(text.as_bytes().to_vec()), |file| read(&PathBuf::from(file)))
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read the body from {}", file.display()))
}

fn header(line: &str) -> anyhow::Result<(String, String)> {
    let pair = line.split_once(':').filter(|(name, _)| !name.trim().is_empty());
    let Some((name, value)) = pair else { bail!("-H \"{line}\" is no header; write for example 'Accept: text/html'") };
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// RFC 4648, for one short header: not worth a library.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let four = |three: &[u8]| {
        let word = (0..3).fold(0_u32, |word, at| word << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        let digit =
            |at: usize| if at <= three.len() { ALPHABET[(word >> (18 - 6 * at) & 63) as usize] as char } else { '=' };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(four).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_vectors_of_the_rfc() {
        for (text, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(text.as_bytes()), coded);
        }
    }
}
