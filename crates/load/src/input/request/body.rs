//! Sources of a request's body.

use std::sync::Arc;

use tare_wire::http::grammar::is_field_byte;

use crate::error::LoadError;
use crate::input::template::{Escaping, Scope, Template, quote, url_encode};

#[derive(Clone, Debug)]
pub enum Body {
    /// These bytes. They are sent without a copy, and may contain anything.
    Bytes(Arc<[u8]>),
    /// Text with variables.
    Text(String),
    /// Text with variables, sent as `application/json`.
    Json(String),
    /// Names and values, both with variables. They are encoded and sent as `application/x-www-form-urlencoded`.
    Form(Vec<(String, String)>),
    /// Parts of a form, some of them files, sent as `multipart/form-data`.
    Multipart(Vec<FormPart>),
    /// Texts with variables that subscribe to what a WebSocket pushes. The first is sent when a user subscribes, and each of
    /// the others after the next message of the server.
    Messages(Vec<String>),
}

/// Behind each message. No text in UTF-8 contains this byte.
const END_OF_MESSAGE: u8 = 0xff;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormPart {
    /// Text with variables.
    Text { name: String, text: String, content_type: Option<String> },
    /// A file, whose contents may be anything.
    File { name: String, file_name: String, content_type: String, contents: Arc<[u8]> },
}

impl Default for Body {
    fn default() -> Self {
        Self::Bytes(Arc::from([]))
    }
}

impl<T: Into<Arc<[u8]>>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl Body {
    /// The default `Content-Type` of this body, without its boundary.
    pub(super) const fn content_type(&self) -> Option<&'static str> {
        match self {
            Self::Json(_) => Some("application/json"),
            Self::Form(_) => Some("application/x-www-form-urlencoded"),
            Self::Multipart(_) => Some("multipart/form-data"),
            Self::Bytes(_) | Self::Text(_) | Self::Messages(_) => None,
        }
    }

    /// Adds the boundary of a body in parts to its type, which a user may have given without one.
    pub(super) fn add_boundary(&self, content_type: &mut Template) {
        let has_one = |given: &[u8]| memchr::memmem::find(&given.to_ascii_lowercase(), b"boundary=").is_some();
        if let Self::Multipart(parts) = self
            && !has_one(&content_type.with_stand_ins())
        {
            content_type.push_text(format!("; boundary={}", boundary(parts)).as_bytes());
        }
    }

    /// The bytes, and the positions of their variables.
    pub(super) fn template(&self, place: &str, scope: &mut Scope<'_>) -> Result<Template, LoadError> {
        match self {
            Self::Bytes(bytes) => Ok(Template::literal(&bytes[..])),
            Self::Text(text) | Self::Json(text) => Template::parse(place, text, scope),
            Self::Form(fields) => form(place, fields, scope),
            Self::Multipart(parts) => multipart(place, parts, scope),
            Self::Messages(texts) => {
                let mut messages = Template::default();
                for (index, text) in texts.iter().enumerate() {
                    messages.append(Template::parse(&format!("{place}, message {}", index + 1), text, scope)?);
                    messages.push_text(&[END_OF_MESSAGE]);
                }
                Ok(messages)
            }
        }
    }

    /// The messages of a [`Body::Messages`], which may be empty; none of an empty body.
    pub(crate) fn split_messages(body: &[u8]) -> impl Iterator<Item = &[u8]> {
        body.split_inclusive(|byte| *byte == END_OF_MESSAGE).map(|message| &message[..message.len() - 1])
    }
}

fn form(place: &str, fields: &[(String, String)], scope: &mut Scope<'_>) -> Result<Template, LoadError> {
    let mut form = Template::default();
    for (index, (name, value)) in fields.iter().enumerate() {
        if index > 0 {
            form.push_text(b"&");
        }
        form.append(encoded(&format!("{place}, name of field {}", index + 1), name, scope)?);
        form.push_text(b"=");
        form.append(encoded(&format!("{place}, field `{name}`"), value, scope)?);
    }
    Ok(form)
}

fn encoded(place: &str, text: &str, scope: &mut Scope<'_>) -> Result<Template, LoadError> {
    Ok(Template::parse(place, text, scope)?.map(url_encode, |_| Escaping::Url))
}

/// A line that stands between parts, and in none of them.
fn boundary(parts: &[FormPart]) -> String {
    let holds = |part: &FormPart, line: &str| match part {
        FormPart::Text { text, .. } => text.contains(line),
        FormPart::File { contents, .. } => memchr::memmem::find(contents, line.as_bytes()).is_some(),
    };
    let mut line = "----tare-form-boundary".to_owned();
    while parts.iter().any(|part| holds(part, &line)) {
        line.push('-');
    }
    line
}

/// The parts as RFC 7578 has them.
fn multipart(place: &str, parts: &[FormPart], scope: &mut Scope<'_>) -> Result<Template, LoadError> {
    let line = boundary(parts);
    let mut form = Template::default();
    for part in parts {
        let (name, file_name, content_type) = match part {
            FormPart::Text { name, content_type, .. } => (name, None, content_type.as_ref()),
            FormPart::File { name, file_name, content_type, .. } => (name, Some(file_name), Some(content_type)),
        };
        let place = format!("{place}, field `{name}`");
        form.push_text(format!("--{line}\r\nContent-Disposition: form-data; name=\"").as_bytes());
        form.append(Template::parse(&place, name, scope)?.map(quote, in_quotes));
        if let Some(file_name) = file_name {
            form.push_text(b"\"; filename=\"");
            form.append(Template::parse(&place, file_name, scope)?.map(quote, in_quotes));
        }
        form.push_text(b"\"");
        if let Some(content_type) = content_type {
            if !content_type.bytes().all(is_field_byte) {
                let what = "a line end or another control character in its type, which is one line of a header";
                return Err(LoadError::input(&place, what, "take it out"));
            }
            form.push_text(b"\r\nContent-Type: ");
            form.append(Template::parse(&place, content_type, scope)?.map(<[u8]>::to_vec, in_quotes));
        }
        form.push_text(b"\r\n\r\n");
        match part {
            FormPart::Text { text, .. } => form.append(Template::parse(&place, text, scope)?),
            FormPart::File { contents, .. } => form.push_text(contents),
        }
        form.push_text(b"\r\n");
    }
    form.push_text(format!("--{line}--\r\n").as_bytes());
    Ok(form)
}

/// A value in the head of a part, even without a filter.
const fn in_quotes(given: Escaping) -> Escaping {
    match given {
        Escaping::Url => Escaping::Url,
        _ => Escaping::Quoted,
    }
}
