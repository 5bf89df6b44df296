//! How a fork warms up: until steady, or for a fixed time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tare_units::Span;

/// So many servers become steady within the cap of a warm-up. Of the default cap of 40 s, each needs 2 to 4 s for its full rounds
/// (three on all cores, nine on its own), and its compilers need some 6 s of all cores.
const SERVERS_WITHIN_CAP: u32 = 4;

/// How a fork warms up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warmup {
    /// Until steady: JIT share, slope and change point (docs/METHOD.md); at most `cap` per scenario and fork.
    UntilSteady {
        /// A fork of up to four servers is kept and marked "not steady" after so long; see [`Warmup::longest`].
        cap: Span,
        /// The same of the first scenario of a fork, which also warms what all of them share.
        first_cap: Span,
        /// Give servers all cores while they warm up, so that the JIT has room.
        all_cpus: bool,
    },
    /// For a time, with so many users.
    Fixed { span: Span, users: u32 },
}

impl Warmup {
    /// Until steady. The caps stay zero until they are filled in.
    pub(crate) const fn until_steady() -> Self {
        Self::UntilSteady { cap: Span(Duration::ZERO), first_cap: Span(Duration::ZERO), all_cpus: false }
    }

    /// The longest warm-up of a scenario, of so many servers side by side: the cap, and a quarter more for each beyond the fourth,
    /// because the rounds of the servers follow one another. A warm-up of fixed length takes as long for each of them.
    pub fn longest(&self, is_first: bool, servers: u32) -> Duration {
        match self {
            Self::UntilSteady { cap, first_cap, .. } => {
                let cap = if is_first { first_cap } else { cap };
                cap.0 * servers.max(SERVERS_WITHIN_CAP) / SERVERS_WITHIN_CAP
            }
            Self::Fixed { span, .. } => span.0 * servers,
        }
    }
}

impl Default for Warmup {
    fn default() -> Self {
        Self::Fixed { span: Span::default(), users: 0 }
    }
}

impl FromStr for Warmup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "steady" {
            return Ok(Self::until_steady());
        }
        let fixed = text.parse().map(|span| Self::Fixed { span, users: 0 });
        fixed.map_err(|_| format!("\"{text}\" is neither \"steady\" nor a duration such as 5s"))
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UntilSteady { .. } => f.write_str("steady"),
            Self::Fixed { span, .. } => span.fmt(f),
        }
    }
}
