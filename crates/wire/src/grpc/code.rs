//! The codes of statuses, by name and number.

use std::fmt;
use std::str::FromStr;

/// The names of the codes, by number.
const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The code of a status: how a call ended. A server may send numbers that have no name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Code(pub u32);

impl Code {
    /// The call succeeded.
    pub const OK: Self = Self(0);

    /// Its name; `None` for a number without one.
    pub fn name(self) -> Option<&'static str> {
        NAMES.get(self.0 as usize).copied()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} {name}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for Code {
    type Err = String;

    /// A code by its name or its number.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = NAMES.iter().position(|name| *name == text).map(|number| number as u32);
        number
            .or_else(|| text.parse().ok())
            .map(Self)
            .ok_or_else(|| format!("\"{text}\" is no status of gRPC; there are {}", NAMES.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_by_name_and_number_and_told_with_both() {
        assert_eq!("NOT_FOUND".parse(), Ok(Code(5)));
        assert_eq!("16".parse::<Code>().map(|code| code.to_string()), Ok("16 UNAUTHENTICATED".to_owned()));
        assert_eq!(Code(99).to_string(), "99");
        assert!("NOTFOUND".parse::<Code>().unwrap_err().contains("there are OK, CANCELLED"));
    }
}
