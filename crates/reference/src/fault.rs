//! The planted faults of a reference server, by name.

use std::str::FromStr;

/// A fault, and the number of requests that are answered correctly before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The fault.
    pub kind: FaultKind,
    /// Requests answered correctly before it. All later ones meet it.
    pub after: u64,
}

/// The effect of a fault on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The process aborts.
    Crash,
    /// The process exits with status 3.
    Exit,
    /// No answer; the connection stays open.
    Hang,
    /// The connection is closed without an answer.
    Close,
    /// The connection is closed half-way through the body.
    CloseMidBody,
    /// The body has the right length and one wrong byte.
    WrongBody,
    /// Status 500.
    Status500,
    /// Bytes that are not HTTP.
    Garbage,
    /// The connection is closed inside the headers.
    TruncatedHeaders,
    /// A body that never ends.
    Flood,
    /// The correct answer, one byte at a time, ten per second.
    SlowLoris,
}

impl FaultKind {
    /// All faults, with their names on the command line.
    pub const NAMES: [(&'static str, Self); 11] = [
        ("crash", Self::Crash),
        ("exit", Self::Exit),
        ("hang", Self::Hang),
        ("close", Self::Close),
        ("close-mid-body", Self::CloseMidBody),
        ("wrong-body", Self::WrongBody),
        ("status-500", Self::Status500),
        ("garbage", Self::Garbage),
        ("truncated-headers", Self::TruncatedHeaders),
        ("flood", Self::Flood),
        ("slow-loris", Self::SlowLoris),
    ];
}

impl FromStr for FaultKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<_> = Self::NAMES.iter().map(|(known, _)| *known).collect();
            format!("no fault \"{name}\"; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_known_by_its_name() {
        for (name, kind) in FaultKind::NAMES {
            assert_eq!(name.parse::<FaultKind>(), Ok(kind));
        }
        assert!("flod".parse::<FaultKind>().unwrap_err().contains("flood"));
    }
}
