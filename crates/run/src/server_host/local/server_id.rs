//! The name of a server while a fork is under way.

use serde::{Deserialize, Serialize};

/// Names a server of the fork under way: its position among the variants of the fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerId(pub usize);
