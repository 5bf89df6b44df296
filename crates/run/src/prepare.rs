//! How each variant of a plan is started: catalog servers are built when stale, commands are taken as they stand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;
use tare_plan::Plan;
use tare_plan::contract::Contract;
use tare_plan::plan::{CommandServer, Program, Variant};
use tare_sut::server::{ReadyRule, ServerSpec};
use tare_sys::affinity::CpuSet;

use crate::error::RunError;

/// How one variant is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments, with `{port}`.
    pub command: Vec<String>,
    /// Added environment.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub directory: Option<PathBuf>,
    /// How its readiness is seen.
    pub ready: ReadyRule,
    /// Where it answers, where that is not simply its port.
    pub base_url: Option<String>,
    /// Library versions resolved for it.
    pub resolved: BTreeMap<String, String>,
    /// What it must answer, where that is not the catalog's contract.
    own_contract: Option<Contract>,
}

/// The launches of a plan, by server and version.
#[derive(Debug, Clone, Default)]
pub struct Launches {
    by_variant: BTreeMap<(String, Option<String>), Launch>,
    java: Option<String>,
}

/// What a catalog server's readiness line looks like.
///
/// # Panics
/// Never: the expression is a constant that a test compiles.
pub fn catalog_ready() -> Regex {
    #[allow(clippy::unwrap_used, reason = "a constant expression")]
    Regex::new(r"^tare: ready on 127\.0\.0\.1:(?<port>\d+)$").unwrap()
}

impl Launches {
    /// How `variant` is started.
    ///
    /// # Errors
    /// [`RunError::NotPrepared`] when it was not among the plan's variants.
    pub fn get(&self, variant: &Variant) -> Result<&Launch, RunError> {
        let key = (variant.server.clone(), variant.version.clone());
        self.by_variant.get(&key).ok_or_else(|| RunError::NotPrepared(variant.name.clone()))
    }

    /// The JDK that the JVM servers run on, where there are any.
    pub fn java(&self) -> Option<&str> {
        self.java.as_deref()
    }
}
