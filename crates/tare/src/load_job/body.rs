//! The body of a request, from the flags.

use std::path::Path;

use anyhow::Context;
use regex::Regex;
use tare_load::{Body, FormPart};
use tare_plan::contract::bytes_of_hex;

use super::files::InputFiles;
use super::request::is_header;
use crate::args::RequestArgs;
use crate::failure::wrong_usage;

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
        let has_type_of_parts =
            |line: &String| is_header(line, "content-type") && line.to_lowercase().contains("multipart/");
        let has_parts = args.multipart || args.header.iter().any(has_type_of_parts);
        return form(&args.form, has_parts, files).map(Some);
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
    let quoted = Regex::new(r#"(?s)^"((?:[^"\\]|\\.)*)""#).ok()?.captures(value)?;
    let text = Regex::new(r#"\\(["\\])"#).ok()?.replace_all(&quoted[1], "$1").into_owned();
    Some((text, &value[quoted[0].len()..]))
}

/// Value and options of a field without quotes. Semicolons before the first option of curl are part of the value.
fn value_and_options(text: &str) -> (String, &str) {
    const KEYS: [&str; 4] = ["type=", "filename=", "headers=", "encoder="];
    let is_option = |at: &usize| KEYS.iter().any(|key| text[at + 1..].trim_start().starts_with(key));
    let at = text.match_indices(';').map(|(at, _)| at).find(is_option).unwrap_or(text.len());
    (text[..at].to_owned(), &text[at..])
}

/// What `;type=TYPE` and `;filename=NAME` say. What else follows a type is part of it, as `;charset=utf-8` is.
fn type_and_file_name(field: &str, options: &str) -> anyhow::Result<(Option<String>, Option<String>)> {
    let (mut content_type, mut file_name, mut is_in_type) = (None::<String>, None, false);
    // A semicolon in a name that stands between double quotes is part of it.
    let parts = Regex::new(r#"(?s)\s*filename="(?:[^"\\]|\\.)*"|[^;]+"#)?;
    for part in parts.find_iter(options).map(|part| part.as_str()).filter(|part| !part.trim().is_empty()) {
        let option = part.trim();
        let is_of_type = is_in_type && !option.starts_with("headers=") && !option.starts_with("encoder=");
        if let Some(given) = option.strip_prefix("filename=") {
            let name = unquoted(given).map_or_else(|| given.to_owned(), |(name, _)| name);
            (file_name, is_in_type) = (Some(name), false);
        } else if let Some(given) = option.strip_prefix("type=") {
            (content_type, is_in_type) = (Some(given.to_owned()), true);
        } else if let Some(content_type) = content_type.as_mut().filter(|_| is_of_type) {
            *content_type += &format!(";{}", part.trim_end());
        } else {
            return Err(wrong_usage(format!(
                "--form {field}: \"{option}\" is no option of a field here; write ;type=TYPE or ;filename=NAME, and \
                 put double quotes around a value with semicolons"
            )));
        }
    }
    Ok((content_type, file_name))
}

/// `VALUE`, `@FILE` or `<FILE` (its text), in double quotes or not, then `;type=TYPE` and `;filename=NAME`.
fn part(name: String, value: &str, files: &InputFiles) -> anyhow::Result<FormPart> {
    let (sign, value) = value.split_at(usize::from(value.starts_with(['@', '<'])));
    let quoted = unquoted(value).filter(|(_, options)| options.is_empty() || options.starts_with(';'));
    let (value, options) = quoted.unwrap_or_else(|| value_and_options(value));
    let (content_type, file_name) = type_and_file_name(&name, options)?;
    let read = |path: &str| {
        let path = Path::new(path);
        files.contents(path).with_context(|| unreadable(path, &format!("the form field {name}")))
    };
    if sign == "@" {
        let contents = read(&value)?;
        let own_name = || Path::new(&value).file_name().map(|own| own.to_string_lossy().replace("{{", "\\{{"));
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
    let contents = files.contents(file).with_context(|| unreadable(file, "the body"))?;
    String::from_utf8(contents).map_err(|_| {
        let file = file.display();
        wrong_usage(format!("{file} is not text in UTF-8, which may have variables; -D {file} sends it byte for byte"))
    })
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
    fn a_form_has_parts_where_its_type_says_so() {
        for (header, has_parts) in [("content-type: Multipart/form-data", true), ("X-A: multipart/form-data", false)] {
            let cli = crate::args::parse(["tare", "load", "http://x/", "--form", "a=1", "-H", header]).unwrap();
            let crate::args::Command::Load(args) = cli.command else { panic!() };
            let body = body(&args.request, &InputFiles::Disk).unwrap().unwrap();
            assert_eq!(matches!(body, Body::Multipart(_)), has_parts, "{header}: {body:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_text_is_refused_with_the_flag_for_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, b"\xff\xd8").unwrap();
        let path = file.path().display().to_string();
        let error = text_or_file(&format!("@{path}"), &InputFiles::Disk).unwrap_err().to_string();
        assert!(error.contains("is not text in UTF-8") && error.contains(&format!("-D {path} sends it")), "{error}");
        std::fs::write(&file, "ä").unwrap();
        assert_eq!(text_or_file(&format!("@{path}"), &InputFiles::Disk).unwrap(), "ä");
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
        let with_charset =
            parts(&["a=1;2; type=t/x; charset=utf-8".to_owned(), file(";type=t/y;a=b;filename=\"b;c\"")]);
        let (name, text) = ("a".to_owned(), "1;2".to_owned());
        assert_eq!(with_charset[0], FormPart::Text { name, text, content_type: Some("t/x; charset=utf-8".to_owned()) });
        assert_eq!(with_charset[1], sent("b;c", "t/y;a=b"));
        assert_eq!(parts(&[file(r#";filename="b\\";type=t/y"#)]), [sent("b\\", "t/y")]);
        assert_eq!(parts(&[file(";filename=3\" b;type=t/y")]), [sent("3\" b", "t/y")]);
        for other in [";headers=\"X: y\"", ";type=t/x;encoder=base64", ";filename=b;c", ";filename=\"b\"c"] {
            let error = form(&[file(other)]).unwrap_err().to_string();
            assert!(error.contains("--form file: ") && error.contains("is no option of a field here"), "{error}");
        }
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
