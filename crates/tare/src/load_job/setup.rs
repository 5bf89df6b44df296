//! The set-up of users, from the file of `--setup`.

use std::path::Path;

use anyhow::Context;
use tare_load::{Body, SetupStep};
use tare_plan::contract::{BodySpec, SetupRequest, UserSetup};
use tare_plan::load_plan::Protocol;
use tare_run::load_host::sent_and_checked;

use super::body::unreadable;
use super::files::InputFiles;
use super::place::LoadTarget;
use crate::failure::wrong_usage;

/// The requests that each user sends before the load; none without a file.
pub fn setup_steps(
    file: Option<&Path>,
    target: &LoadTarget,
    protocol: &Protocol,
    files: &InputFiles,
) -> anyhow::Result<Vec<SetupStep>> {
    let Some(file) = file else { return Ok(Vec::new()) };
    if target.is_grpc {
        return Err(wrong_usage("--setup is not for calls of gRPC; give their metadata with -H"));
    }
    if matches!(protocol, Protocol::Http1 { pipeline: 2.. }) {
        return Err(wrong_usage(
            "--setup has one user per connection; use more connections (-c) in place of --pipeline",
        ));
    }
    let shown = file.display().to_string();
    let text = files.text(file).with_context(|| unreadable(file, "the set-up"))?;
    let setup = UserSetup::parse(&shown, &text)?.setup;
    setup.iter().enumerate().map(|(index, step)| setup_step(file, index, step, files)).collect()
}

fn setup_step(file: &Path, index: usize, step: &SetupRequest, files: &InputFiles) -> anyhow::Result<SetupStep> {
    let place = format!("{}: [[setup]] number {}:", file.display(), index + 1);
    let expect = step.expect.clone().unwrap_or_default();
    let mut request = sent_and_checked(&place, &step.request, &expect)?;
    if step.expect.is_none() {
        // The usual check of a load: any status from 200 to 299.
        request.checks.clear();
    }
    match &step.request.body {
        Some(BodySpec::Text(text)) => request.body = Body::Text(text.clone()),
        Some(BodySpec::OfFile { file: body }) => {
            let path = file.parent().unwrap_or(Path::new("")).join(body);
            request.body =
                Body::from(files.contents(&path).with_context(|| unreadable(&path, "a body of the set-up"))?);
        }
        _ => {}
    }
    let variables = step.variables.iter().map(|(name, extract)| {
        let extract = extract.parse().with_context(|| format!("{place} variable {name}"))?;
        Ok((name.clone(), extract))
    });
    Ok(SetupStep { request, variables: variables.collect::<anyhow::Result<_>>()? })
}
