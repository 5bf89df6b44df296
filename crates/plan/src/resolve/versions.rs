//! Which versions are measured: each must be one that a server has. A server that lacks it is left out, with the reason.

use super::Inputs;
use crate::PlanError;

/// The versions that `--versions` or the suite asks for.
pub(super) fn requested_versions<'a>(
    inputs: &'a Inputs<'_>,
    servers: impl Iterator<Item = &'a str>,
) -> Result<Vec<String>, PlanError> {
    let (origin, versions) = match (&inputs.flags.versions, &inputs.suite.run.versions) {
        (Some(versions), _) => ("--versions".to_owned(), versions),
        (None, Some(versions)) => (format!("{}: [run] versions", inputs.suite.file), versions),
        (None, None) => return Ok(Vec::new()),
    };
    let mut known: Vec<&str> = Vec::new();
    for version in servers.filter_map(|name| inputs.inventory.get(name)).flat_map(|server| &server.versions) {
        if !known.contains(&version.as_str()) {
            known.push(version);
        }
    }
    // Servers of the suite itself have no versions.
    if known.is_empty() {
        return Ok(Vec::new());
    }
    match versions.iter().find(|version| !known.contains(&version.as_str())) {
        None => Ok(versions.clone()),
        Some(unknown) => Err(PlanError::NoMatch {
            origin,
            kind: "version",
            pattern: unknown.clone(),
            suggestion: String::new(),
            known: known.join(", "),
        }),
    }
}
