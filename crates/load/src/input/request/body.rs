//! Sources of a request's body.

use std::sync::Arc;

use crate::error::LoadError;
use crate::input::template::{Escaping, Scope, Template, url_encode};

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

/// Between two messages. No text in UTF-8 contains this byte.
const BETWEEN_MESSAGES: u8 = 0xff;

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
    /// The default `Content-Type` of this body.
    pub(super) fn content_type(&self) -> Option<String> {
        match self {
            Self::Json(_) => Some("application/json".to_owned()),
            Self::Form(_) => Some("application/x-www-form-urlencoded".to_owned()),
            Self::Multipart(parts) => Some(format!("multipart/form-data; boundary={}", boundary(parts))),
            Self::Bytes(_) | Self::Text(_) | Self::Messages(_) => None,
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
                    if index > 0 {
                        messages.push_text(&[BETWEEN_MESSAGES]);
                    }
                    messages.append(Template::parse(&format!("{place}, message {}", index + 1), text, scope)?);
                }
                Ok(messages)
            }
        }
    }

    /// The messages of a [`Body::Messages`]; none of an empty body.
    pub(crate) fn split_messages(body: &[u8]) -> impl Iterator<Item = &[u8]> {
        body.split(|byte| *byte == BETWEEN_MESSAGES).filter(|message| !message.is_empty())
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
        form.push_text(format!("--{line}\r\n").as_bytes());
        match part {
            FormPart::Text { name, text, content_type } => {
                let content_type = content_type.iter().map(|content_type| format!("\r\nContent-Type: {content_type}"));
                let head = format!("{}{}\r\n\r\n", disposition(name), content_type.collect::<String>());
                form.push_text(head.as_bytes());
                form.append(Template::parse(&format!("{place}, field `{name}`"), text, scope)?);
            }
            FormPart::File { name, file_name, content_type, contents } => {
                let (disposition, file_name) = (disposition(name), quoted(file_name));
                form.push_text(
                    format!("{disposition}; filename=\"{file_name}\"\r\nContent-Type: {content_type}\r\n\r\n")
                        .as_bytes(),
                );
                form.push_text(contents);
            }
        }
        form.push_text(b"\r\n");
    }
    form.push_text(format!("--{line}--\r\n").as_bytes());
    Ok(form)
}

fn disposition(name: &str) -> String {
    format!("Content-Disposition: form-data; name=\"{}\"", quoted(name))
}

/// A name between quotes, as browsers and curl escape it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}
