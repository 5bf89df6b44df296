//! The words of a summary: the headline and its sentences, findings, how far to trust them, and what to do next.

pub(crate) mod findings;
pub(crate) mod headline;
pub(crate) mod limit_words;
pub(crate) mod next_step;
pub(crate) mod trust;

pub use findings::{of_load as findings_of_load, report_finding};
pub use headline::without_facts as headline_without_facts;
pub use trust::trust;
