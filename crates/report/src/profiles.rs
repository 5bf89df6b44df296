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
                let set = FileSet { folder, stem: new_file_name(&name, &mut taken), files: &mut files };
                let title = format!("{} · {} · {}", variant.name, named.name, event.name());
                write(set, &stacks, baseline.as_ref(), &title, unit)?;
                if variant.name == group.baseline().name {
                    baseline = Some(stacks);
                }
            }
        }
    }
    Ok(files)
}

/// The files of one variant and event: a folder, the stem of their names, and the list of those written.
struct FileSet<'a> {
    folder: &'a Path,
    stem: String,
    files: &'a mut Vec<PathBuf>,
}

fn write(
    mut set: FileSet<'_>,
    stacks: &Stacks,
    baseline: Option<&Stacks>,
    title: &str,
    unit: Unit,
) -> Result<(), ReportError> {
    set.put("collapsed", collapsed::write_collapsed(stacks).as_bytes())?;
    set.put("speedscope.json", write_speedscope(stacks, title, unit)?.as_bytes())?;
    set.put("pb.gz", &write_pprof(stacks, unit)?)?;
    set.put("svg", &draw_flame_graph(stacks, title, unit)?)?;
    if let Some(baseline) = baseline {
        let title = format!("{title}: more (orange) and less (blue) than the baseline");
        set.put("difference.svg", &draw_difference(baseline, stacks, &title, unit)?)?;
    }
    Ok(())
}

impl FileSet<'_> {
    fn put(&mut self, ending: &str, content: &[u8]) -> Result<(), ReportError> {
        let file = self.folder.join(format!("{}.{ending}", self.stem));
        fs::create_dir_all(self.folder)
            .and_then(|()| fs::write(&file, content))
            .map_err(|cause| ReportError::Write { file: file.clone(), cause })?;
        self.files.push(file);
        Ok(())
    }
}

fn unit(weight: Weight) -> Unit {
    match weight {
        Weight::Samples { .. } => Unit::Samples,
        Weight::Ns => Unit::Nanoseconds,
        Weight::Bytes => Unit::Bytes,
    }
}
