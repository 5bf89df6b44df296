//! The body of a request, from the flags.

use std::path::Path;

use anyhow::Context;
use tare_load::{Body, FormPart};
use tare_plan::contract::bytes_of_hex;

use super::files::InputFiles;
use crate::args::RequestArgs;
use crate::failure::wrong_usage;

/// The body that the flags give; `None` without one.
pub(super) fn body(args: &RequestArgs, files: &InputFiles) -> anyhow::Result<Option<Body>> {
    if let Some(text) = &args.data_json {
        let text = text_or_file(text, files)?;
        // A variable may stand where no JSON could be.
        if !text.contains("{{") {
            let checked = serde_json::from_str::<serde::de::IgnoredAny>(&text);
            checked.map_err(|why| wrong_usage(format!("the body of --data-json is not valid JSON: {why}")))?;
        }
        return Ok(Some(Body::Json(text)));
    }
    if !args.form.is_empty() {
        return form(&args.form, args.multipart, files).map(Some);
    }
    match &args.data {
        Some(text) => Ok(Some(Body::Text(text_or_file(text, files)?))),
        None => Ok(bytes(args, files)?.map(Body::from)),
    }
}

pub(super) fn bytes(args: &RequestArgs, files: &InputFiles) -> anyhow::Result<Option<Vec<u8>>> {
    match (&args.data_hex, &args.body_file) {
        (Some(hex), _) => bytes_of_hex(hex).map(Some).map_err(|what| wrong_usage(format!("--data-hex: {what}"))),
        (None, Some(file)) => {
            let mut bytes = files.contents(file).with_context(|| unreadable(file, "the body"))?;
            if args.no_line_ends {
                // As curl, which leaves out the third one too.
                bytes.retain(|byte| !b"\r\n\0".contains(byte));
            }
            Ok(Some(bytes))
        }
        (None, None) => Ok(None),
    }
}

/// The fields of a form as curl writes them. It has parts if it must or has a file; otherwise it is one encoded text.
fn form(fields: &[String], has_parts: bool, files: &InputFiles) -> anyhow::Result<Body> {
    let pair = |field: &String| {
        let pair = field.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| wrong_usage(format!("--form \"{field}\" has no value; write NAME=VALUE or NAME=@FILE")))
    };
    let pairs: Vec<(String, String)> = fields.iter().map(pair).collect::<Result<_, _>>()?;
    if !has_parts && !pairs.iter().any(|(_, value)| value.starts_with(['@', '<'])) {
        let plain = |(name, value): (String, String)| {
            let text = unquoted(&value).filter(|(_, rest)| rest.is_empty()).map(|(text, _)| text);
            (name, text.unwrap_or(value))
        };
        return Ok(Body::Form(pairs.into_iter().map(plain).collect()));
    }
    let parts = pairs.into_iter().map(|(name, value)| part(name, &value, files));
    Ok(Body::Multipart(parts.collect::<anyhow::Result<_>>()?))
}

/// The text between the double quotes that a value of curl may begin with, and what follows; `None` without them.
fn unquoted(value: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut letters = value.strip_prefix('"')?.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some((text, letters.as_str())),
            '\\' if letters.as_str().starts_with(['"', '\\']) => text.extend(letters.next()),
            letter => text.push(letter),
        }
    }
    None
}

/// `VALUE`, `@FILE` or `<FILE` (its text), in double quotes or not, then `;type=TYPE` and `;filename=NAME`.
fn part(name: String, value: &str, files: &InputFiles) -> anyhow::Result<FormPart> {
    let (sign, value) = value.split_at(usize::from(value.starts_with(['@', '<'])));
    let quoted = unquoted(value).filter(|(_, options)| options.is_empty() || options.starts_with(';'));
    let mut value = quoted.as_ref().map_or(value, |(_, options)| *options);
    let (mut content_type, mut file_name) = (None, None);
    // Other semicolons are part of the value.
    while let Some((rest, option)) = value.rsplit_once(';') {
        match option.trim().split_once('=') {
            Some(("type", given)) => content_type = Some(given.to_owned()),
            Some(("filename", given)) => file_name = Some(given.trim_matches('"').to_owned()),
            _ => break,
        }
        value = rest;
    }
    let value = quoted.map_or_else(|| value.to_owned(), |(text, _)| text);
    let read = |path: &str| {
        let path = Path::new(path);
        files.contents(path).with_context(|| unreadable(path, &format!("the form field {name}")))
    };
    if sign == "@" {
        let contents = read(&value)?;
        let own_name = || Path::new(&value).file_name().map(|own| own.to_string_lossy().into_owned());
        let file_name = file_name.or_else(own_name).unwrap_or_default();
        let content_type = content_type.unwrap_or_else(|| type_of_file(&file_name).to_owned());
        return Ok(FormPart::File { name, file_name, content_type, contents: contents.into() });
    }
    let text = match sign {
        "<" => String::from_utf8(read(&value)?).map_err(|_| {
            wrong_usage(format!("--form {name}: {value} is not text; send it as a file with {name}=@{value}"))
        })?,
        _ => value,
    };
    Ok(FormPart::Text { name, text, content_type })
}

fn type_of_file(name: &str) -> &'static str {
    let ending = Path::new(name).extension().unwrap_or_default().to_ascii_lowercase();
    match ending.to_str().unwrap_or_default() {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}

pub(super) fn text_or_file(text: &str, files: &InputFiles) -> anyhow::Result<String> {
    let Some(file) = text.strip_prefix('@').map(Path::new) else { return Ok(text.to_owned()) };
    files.text(file).with_context(|| unreadable(file, "the body"))
}

pub(super) fn unreadable(file: &Path, what: &str) -> String {
    format!("cannot read {what} from {}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_sent_as_curl_sends_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, b"a=1\r\n&b=\xff\0\n").unwrap();
        for (flag, sent) in [("-d", &b"a=1&b=\xff"[..]), ("--data-binary", b"a=1\r\n&b=\xff\0\n")] {
            let line = format!("curl http://x/ {flag} @{}", file.path().display());
            let cli = crate::args::parse(["tare", "load", "--curl", &line]).unwrap();
            let crate::args::Command::Load(args) = cli.command else { panic!() };
            assert_eq!(bytes(&args.request, &InputFiles::Disk).unwrap().as_deref(), Some(sent), "{flag}");
        }
    }

    #[test]
    fn a_form_with_a_file_has_parts_and_one_without_is_encoded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("photo.JPG");
        std::fs::write(&path, b"\xff\xd8").unwrap();
        let in_parts = super::form(&["a=1".to_owned()], true, &InputFiles::Disk).unwrap();
        assert!(matches!(in_parts, Body::Multipart(parts) if parts.len() == 1));
        let form = |fields: &[String]| form(fields, false, &InputFiles::Disk);
        assert!(matches!(form(&["a=1;type=x".to_owned()]).unwrap(), Body::Form(pairs) if pairs[0].1 == "1;type=x"));
        let file = |options: &str| format!("file=@{}{options}", path.display());
        let parts = |fields: &[String]| match form(fields).unwrap() {
            Body::Multipart(parts) => parts,
            other => panic!("{other:?}"),
        };
        let found = parts(&["a={\"b\";c};type=application/json".to_owned(), file("")]);
        let (name, text) = ("a".to_owned(), "{\"b\";c}".to_owned());
        assert_eq!(found[0], FormPart::Text { name, text, content_type: Some("application/json".to_owned()) });
        let sent = |file_name: &str, content_type: &str| FormPart::File {
            name: "file".to_owned(),
            file_name: file_name.to_owned(),
            content_type: content_type.to_owned(),
            contents: (*b"\xff\xd8").into(),
        };
        assert_eq!(found[1], sent("photo.JPG", "image/jpeg"));
        assert_eq!(parts(&[file(";type=image/x;filename=\"b.png\"")]), [sent("b.png", "image/x")]);
        // As Postman writes a line for curl.
        let quoted =
            parts(&[r#"a="x;\"y\"";type=t/x"#.to_owned(), format!("file=@\"{}\";filename=b.png", path.display())]);
        let (name, text) = ("a".to_owned(), "x;\"y\"".to_owned());
        assert_eq!(quoted[0], FormPart::Text { name, text, content_type: Some("t/x".to_owned()) });
        assert_eq!(quoted[1], sent("b.png", "image/png"));
        assert!(matches!(form(&["a=\"1 2\"".to_owned()]).unwrap(), Body::Form(pairs) if pairs[0].1 == "1 2"));
        assert!(form(&["file".to_owned()]).unwrap_err().to_string().contains("NAME=@FILE"));
        let absent = form(&["file=@/nonexistent/x".to_owned()]).unwrap_err().to_string();
        assert!(absent.contains("the form field file") && absent.contains("/nonexistent/x"), "{absent}");
        assert!(form(&[format!("a=<{}", path.display())]).unwrap_err().to_string().contains("is not text"));
    }
}
