//! Sources of a request's body.

use std::sync::Arc;

use crate::error::LoadError;
use crate::input::template::{Escaping, Scope, Template, url_encode};

/// The body of a request.
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
    /// Text with variables.
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// JSON with variables.
    pub fn json(text: &str) -> Self {
        Self::Json(text.to_owned())
    }

    /// The fields of a form.
    pub fn form<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::Form(fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// The default `Content-Type` of this body.
    pub(super) const fn content_type(&self) -> Option<&'static str> {
        match self {
            Self::Json(_) => Some("application/json"),
            Self::Form(_) => Some("application/x-www-form-urlencoded"),
            _ => None,
        }
    }

    /// The bytes, and the positions of their variables.
    pub(super) fn template(&self, place: &str, scope: &mut Scope<'_>) -> Result<Template, LoadError> {
        match self {
            Self::Bytes(bytes) => Ok(Template::literal(&bytes[..])),
            Self::Text(text) | Self::Json(text) => Template::parse(place, text, scope),
            Self::Form(fields) => form(place, fields, scope),
        }
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
    let encode = |text: &[u8]| {
        let mut out = Vec::new();
        url_encode(text, &mut out);
        out
    };
    Ok(Template::parse(place, text, scope)?.map(encode, |_| Escaping::Url))
}
