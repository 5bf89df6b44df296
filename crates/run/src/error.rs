//! Why a run cannot begin or go on. Failures of a server under test are not here: they are data.

use thiserror::Error;

/// A failure of the machine, the record, the generator or tare itself.
#[derive(Debug, Error)]
pub enum RunError {
    /// The plan asks for something that this machine lacks, such as cores: what is wrong and what would be right.
    #[error(transparent)]
    Plan(#[from] tare_plan::PlanError),
    /// A server could not be built or its launch could not be planned.
    #[error(transparent)]
    Server(#[from] tare_sut::SutError),
    #[error(transparent)]
    Record(#[from] tare_record::RecordError),
    #[error("cannot make the folder {path}: {source}; give another with --dir", path = path.display())]
    Logs { path: std::path::PathBuf, source: std::io::Error },
    /// Another load tool that the plan asks for is not there: what is missing, and how to get it.
    #[error("--engine {engine}: {message}")]
    Engine { engine: tare_plan::Engine, message: String },
    #[error("run {id} cannot go on: {what}; start it again with the command of its report")]
    Resume { id: String, what: String },
    #[error(transparent)]
    Load(#[from] tare_load::LoadError),
    /// An agent cannot begin or go on: why, and what to do. Its message is one plain line, whatever another machine said.
    #[error("agent {agent}: {reason}", reason = plain_line(reason))]
    Agent { agent: String, reason: String },
    /// Ctrl-C came before there was anything to report.
    #[error("interrupted before the load began")]
    Interrupted,
    /// A name that the plan mentions is not known to the launches.
    #[error("internal: no launch was prepared for {0}; please report this")]
    NotPrepared(String),
}

/// What another machine says, without what a terminal would follow.
pub fn plain_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_machine_says_is_one_plain_line() {
        let error = RunError::Agent { agent: "local".to_owned(), reason: "no\nroom \u{1b}[2J".to_owned() };
        assert_eq!(error.to_string(), "agent local: no room  [2J");
    }
}
