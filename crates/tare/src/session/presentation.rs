//! The report of a run as it is presented: on standard output and in files.

use std::path::{Path, PathBuf};

use tare_analysis::{Summary, summarize_with};
use tare_record::store::{self, RECORD_FILE};
use tare_record::{RecordError, RunRecord};
use tare_report::{text, write_all, write_profiles};

use crate::args::{Global, LATEST};
use crate::console;
use crate::workspace::shown_path;

/// Where the record of profiling starts lies, in the folder of the run that asked for them.
pub(super) const PROFILE_DIR: &str = "profile";

/// The record file of a run, by its name. Says which newer runs `latest` passes over because they cannot be read.
pub fn find_record(name: &str, global: &Global) -> Result<PathBuf, RecordError> {
    let file = store::find_run(&global.dir, name)?;
    if name == LATEST {
        for (id, error) in store::unreadable_after(&global.dir, &file)? {
            console::print_note(&format!("run {id} is left out: {error}"));
        }
    }
    Ok(file)
}

/// The record of a run's profiling starts, in the folder of the run. One that cannot be read costs the scored results nothing.
pub fn profiled_beside(run_dir: &Path) -> Option<RunRecord> {
    let file = run_dir.join(PROFILE_DIR).join(RECORD_FILE);
    if !file.exists() {
        return None;
    }
    store::open_run_record(&file)
        .inspect_err(|error| console::print_note(&format!("  the profiles are left out: {error}")))
        .ok()
}

/// The table on standard output, all files in `folder`, and where they lie. `file` is that of the record.
pub fn present_report(
    record: &RunRecord,
    profiled: Option<&RunRecord>,
    file: &Path,
    folder: &Path,
    global: &Global,
) -> anyhow::Result<Summary> {
    let summary = summarize_with(record, profiled);
    console::print_text(&format!("\n{}", text::render(&summary, &console::report_style(global.color))));
    write_all(&summary, record, folder)?;
    for profiled in profiled.into_iter().chain([record]) {
        write_profiles(profiled, &folder.join("profiles"))?;
    }
    console::print_text(&format!("\n  page      {}\n", shown_path(&folder.join("report.html"))));
    let more = text::unshown_findings(&summary);
    if more > 0 {
        let run = global.shown_run(file, &summary.run.id);
        console::print_text(&format!("  findings  {more} more: tare report {run} --findings\n"));
    }
    Ok(summary)
}
