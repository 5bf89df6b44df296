//! Profiles as files for other tools, each variant's starts merged: collapsed, speedscope, pprof, SVG.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tare_profile::export::{Unit, draw_difference, draw_flame_graph, write_pprof, write_speedscope};
use tare_profile::{Stacks, collapsed};
use tare_record::RunRecord;
use tare_record::profile::Weight;

use crate::clean::new_file_name;
use crate::error::ReportError;
use tare_analysis::profile::Side;

/// Writes every profile into `folder` in each form and returns the files.
///
/// # Errors
/// [`ReportError::Write`] with the file that could not be written, [`ReportError::Profile`] for a form that could not be made.
pub fn write_profiles(record: &RunRecord, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let (mut files, mut taken) = (Vec::new(), HashSet::new());
    let plan = &record.header.plan;
    for (group, named) in plan.groups.iter().flat_map(|g| g.scenarios.iter().map(move |s| (g, s))) {
        for &event in plan.profile.iter().flat_map(|profile| &profile.events) {
            let mut baseline: Option<Stacks> = None;
            for variant in &group.variants {
                let Some(side) = Side::of_variant(record, &group.id, &named.name, &variant.name, event) else {
                    continue;
                };
                let stacks = side.merged();
                let unit = unit(side.records[0].weight);
                let name = [group.id.as_str(), &named.name, &variant.name, event.name()].join("-");
                let stem = new_file_name(&name, &mut taken);
                let title = format!("{} · {} · {}", variant.name, named.name, event.name());
                for (ending, content) in forms(&stacks, baseline.as_ref(), &title, unit)? {
                    let file = folder.join(format!("{stem}.{ending}"));
                    fs::create_dir_all(folder)
                        .and_then(|()| fs::write(&file, content))
                        .map_err(|cause| ReportError::Write { file: file.clone(), cause })?;
                    files.push(file);
                }
                if variant.name == group.baseline().name {
                    baseline = Some(stacks);
                }
            }
        }
    }
    Ok(files)
}

/// What the files of one variant and event hold, by the endings of their names.
fn forms(
    stacks: &Stacks,
    baseline: Option<&Stacks>,
    title: &str,
    unit: Unit,
) -> Result<Vec<(&'static str, Vec<u8>)>, ReportError> {
    let forms = [
        ("collapsed", collapsed::write_collapsed(stacks).into_bytes()),
        ("speedscope.json", write_speedscope(stacks, title, unit).into_bytes()),
        ("pb.gz", write_pprof(stacks, unit)?),
        ("svg", draw_flame_graph(stacks, title, unit)?),
    ];
    let title = format!("{title}: more (orange) and less (blue) than the baseline");
    let difference = baseline.map(|baseline| draw_difference(baseline, stacks, &title, unit)).transpose()?;
    Ok(forms.into_iter().chain(difference.map(|svg| ("difference.svg", svg))).collect())
}

fn unit(weight: Weight) -> Unit {
    match weight {
        Weight::Samples { .. } => Unit::Samples,
        Weight::Ns => Unit::Nanoseconds,
        Weight::Bytes => Unit::Bytes,
    }
}
