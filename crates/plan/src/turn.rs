//! How the servers of a round alternate under saturating load: in short turns, or one whole slice after the other.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tare_units::{Span, serde_as_text};

/// The shortest turn: below it, the head and the drain of a turn are most of it.
pub const SHORTEST_TURN: Duration = Duration::from_millis(20);
/// A turn lasts at least this many times as long as the requests in flight at its end take to drain.
const TURN_PER_DRAIN: f64 = 3.0;
/// The head of a turn that is not scored, as a share of the turn.
const HEAD_SHARE: f64 = 0.2;

/// The fewest turns of a part of a round. Each part is one pair of the comparison. Short parts let the trimmed mean of
/// a start leave out the moments in which a core changed its speed: of seven starts of http4s, parts of 12 turns had a
/// standard error of 1.15 %, whole rounds of 37 turns one of 1.75 %. Shorter parts gain little. They hold garbage
/// collections less evenly, and cost more probes.
const TURNS_PER_PART: u32 = 12;

/// Length of the turns in which the servers of a saturating round alternate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TurnLength {
    /// No turns: each server gets its slice of the round in one piece.
    #[default]
    Whole,
    /// Three times as long as the slowest server takes to drain, and at least 20 ms. The first fork fixes it for all.
    Auto,
    Fixed(Span),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// Length of each, its head included.
    pub length: Duration,
    /// The head of each that is not scored.
    pub discard: Duration,
    pub count: u32,
}

impl TurnLength {
    /// The turns that make up a slice of `slice`, for servers whose slowest completes `per_s` requests per second
    /// with `users` users. `None` where each slice stays in one piece: turns are off, or would be longer than half of
    /// it.
    pub fn turns_of_slice(self, slice: Duration, users: u32, per_s: f64) -> Option<Turns> {
        let length = match self {
            Self::Whole => return None,
            Self::Fixed(span) => span.0,
            // What is in flight at the end of a turn takes as long as one response: users / throughput (Little's law).
            Self::Auto => {
                Duration::try_from_secs_f64(TURN_PER_DRAIN * f64::from(users) / per_s).ok()?.max(SHORTEST_TURN)
            }
        };
        let length = Duration::from_millis(length.as_millis() as u64);
        (length * 2 <= slice && !length.is_zero()).then(|| Turns {
            length,
            discard: length.mul_f64(HEAD_SHARE),
            count: slice.as_secs_f64().div_euclid(length.as_secs_f64()) as u32,
        })
    }
}

impl Turns {
    /// How many turns each part of a round has: about equally many, and at least 12 where the round has that many.
    pub fn per_part(&self) -> Vec<u32> {
        let parts = (self.count / TURNS_PER_PART).max(1);
        let end = |part: u32| self.count * part / parts;
        (0..parts).map(|part| end(part + 1) - end(part)).collect()
    }
}

impl fmt::Display for TurnLength {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => formatter.write_str("whole"),
            Self::Auto => formatter.write_str("auto"),
            Self::Fixed(span) => span.fmt(formatter),
        }
    }
}

impl FromStr for TurnLength {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "whole" => Ok(Self::Whole),
            "auto" => Ok(Self::Auto),
            span => span.parse().map(Self::Fixed).map_err(|error| {
                format!("\"{text}\" is not the length of a turn ({error}); write auto, whole or a time such as 25ms")
            }),
        }
    }
}

serde_as_text!(TurnLength);

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn lengths_are_read_and_written_alike() {
        for text in ["auto", "whole", "25ms", "1s"] {
            assert_eq!(text.parse::<TurnLength>().unwrap().to_string(), text);
            let json = serde_json::to_string(&text.parse::<TurnLength>().unwrap()).unwrap();
            assert_eq!(serde_json::from_str::<TurnLength>(&json).unwrap().to_string(), text);
        }
        assert!("short".parse::<TurnLength>().unwrap_err().contains("write auto, whole or a time"));
    }

    #[test]
    fn an_automatic_turn_follows_from_the_time_to_drain() {
        // 128 users at 15,000 per second drain in 8.5 ms.
        let turns = TurnLength::Auto.turns_of_slice(SECOND, 128, 15_000.0).unwrap();
        assert_eq!((turns.length.as_millis(), turns.count), (25, 40));
        assert_eq!(turns.discard, Duration::from_millis(5));
        let quick = TurnLength::Auto.turns_of_slice(SECOND, 128, 1e6).unwrap();
        assert_eq!((quick.length, quick.count), (SHORTEST_TURN, 50));
    }

    #[test]
    fn parts_of_a_round_are_about_equally_long() {
        let per_part = |count| Turns { length: SHORTEST_TURN, discard: Duration::ZERO, count }.per_part();
        assert_eq!(per_part(37), [12, 12, 13]);
        assert_eq!(per_part(24), [12, 12]);
        assert_eq!(per_part(23), [23]);
        assert_eq!(per_part(2), [2], "a slow server has few turns");
    }

    #[test]
    fn slices_of_slow_servers_stay_in_one_piece() {
        assert_eq!(TurnLength::Auto.turns_of_slice(SECOND, 128, 147.0), None, "uploads that take seconds");
        assert_eq!(TurnLength::Auto.turns_of_slice(SECOND, 128, 0.0), None, "nothing was answered");
        assert_eq!(TurnLength::Whole.turns_of_slice(SECOND, 128, 15_000.0), None);
        assert_eq!(TurnLength::Fixed(Span::from_millis(600)).turns_of_slice(SECOND, 1, 1.0), None);
    }
}
