//! All reports of a run into its folder, each file whole or not at all.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use tare_record::RunRecord;

use crate::clean::new_file_name;
use crate::error::ReportError;
use crate::{csv, gatling, html, json, markdown, wrk};
use tare_analysis::cell::for_each_response;
use tare_analysis::earlier;
use tare_analysis::summary::Summary;

pub const REPORT_FILE: &str = "report.html";

/// Writes every report into `dir` and returns the files, the page first.
///
/// # Errors
/// [`ReportError::Write`] with the file that could not be written; those before it are there and whole.
pub fn write_all(summary: &Summary, record: &RunRecord, dir: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let mut files = vec![
        (PathBuf::from(REPORT_FILE), html::render(summary)?),
        (PathBuf::from("summary.json"), json::render(summary)?),
        (PathBuf::from("cells.csv"), csv::cells_as_csv(summary)),
        (PathBuf::from("slices.csv"), csv::slices_as_csv(record)),
        (PathBuf::from("report.md"), markdown::render(summary)),
        (PathBuf::from("gatling.txt"), gatling::render(summary)),
        (PathBuf::from("wrk.txt"), wrk::render(summary)),
    ];
    if let Some(earlier) = earlier::of_run(record, summary) {
        files.push((PathBuf::from(earlier::EARLIER_FILE), json::render(&earlier)?));
    }
    let histograms = Path::new("hgrm");
    files.extend(hgrm_files(record).into_iter().map(|(name, text)| (histograms.join(name), text)));
    let folder = dir.join(histograms);
    fs::create_dir_all(&folder).map_err(|cause| ReportError::Write { file: folder, cause })?;
    let write = |(name, text): (PathBuf, String)| {
        let file = dir.join(name);
        replace(&file, &text).map_err(|cause| ReportError::Write { file: file.clone(), cause })?;
        Ok(file)
    };
    files.into_iter().map(write).collect()
}

/// `.hgrm`: HdrHistogram's percentile distribution, one file per cell and load, for its plotter. Milliseconds of response
/// time.
pub fn hgrm_files(record: &RunRecord) -> Vec<(String, String)> {
    let (mut files, mut taken) = (Vec::new(), HashSet::new());
    for_each_response(record, |cell, kind, histogram| {
        let name = new_file_name(&format!("{cell}-{}", kind.name()), &mut taken);
        files.push((format!("{name}.hgrm"), histogram.to_hgrm()));
    });
    files
}

/// Writes beside the file and renames, so that a reader sees the old or the new, never a part.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    fs::write(&partial, text).and_then(|()| fs::rename(&partial, file)).inspect_err(|_| {
        // A half-written file would only waste space.
        let _ = fs::remove_file(&partial);
    })
}
