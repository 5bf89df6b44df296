//! `.hgrm`: HdrHistogram's percentile distribution, one file per cell and load, for its plotter. Milliseconds of response time.

use std::collections::HashSet;

use tare_record::RunRecord;

use crate::clean::new_file_name;
use tare_analysis::cell::for_each_response;

pub fn hgrm_files(record: &RunRecord) -> Vec<(String, String)> {
    let (mut files, mut taken) = (Vec::new(), HashSet::new());
    for_each_response(record, |cell, kind, histogram| {
        let name = new_file_name(&format!("{cell}-{}", kind.name()), &mut taken);
        files.push((format!("{name}.hgrm"), histogram.to_hgrm()));
    });
    files
}
