//! What may differ between the answers of two servers, or between two answers of one.

use serde::{Deserialize, Serialize};

/// A part of an answer that a scenario leaves out of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MayDiffer {
    /// The body, and its length.
    Body,
    /// A header, by its name in lower case.
    Header(String),
}

impl TryFrom<String> for MayDiffer {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(' ') {
            None if text == "body" => Ok(Self::Body),
            Some(("header", name)) if !name.trim().is_empty() => Ok(Self::Header(name.trim().to_ascii_lowercase())),
            _ => Err(format!("\"{text}\" is no part of an answer; write \"body\" or \"header NAME\"")),
        }
    }
}

impl From<MayDiffer> for String {
    fn from(part: MayDiffer) -> Self {
        match part {
            MayDiffer::Body => "body".to_owned(),
            MayDiffer::Header(name) => format!("header {name}"),
        }
    }
}

/// The line of a suite that allows these parts to differ.
pub fn may_differ_line(parts: &[MayDiffer]) -> String {
    let quoted: Vec<String> = parts.iter().map(|part| format!("{:?}", String::from(part.clone()))).collect();
    format!("may_differ = [{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_body_or_a_header() {
        let read = |text: &str| MayDiffer::try_from(text.to_owned());
        assert_eq!(read("body"), Ok(MayDiffer::Body));
        assert_eq!(read("header X-Request-ID"), Ok(MayDiffer::Header("x-request-id".to_owned())));
        for wrong in ["status", "header", "header ", "Body", "date", ""] {
            let says = read(wrong).unwrap_err();
            assert!(says.contains("write \"body\" or \"header NAME\""), "{says}");
        }
        let line = may_differ_line(&[MayDiffer::Header("date".to_owned()), MayDiffer::Body]);
        assert_eq!(line, "may_differ = [\"header date\", \"body\"]");
    }
}
