//! Whether any sample lies in classes that a change touches. The frames of a JVM name their class, also where one method is
//! inlined into another. Those of native code do not, so that nothing is said of it.

use std::collections::BTreeSet;

use tare_plan::profile::ProfileEvent;
use tare_profile::{Frame, FrameKind, collapsed};
use tare_record::RunRecord;

use crate::format::{enumerate, grouped};

/// That no sample of the CPU lies in these classes; `None` where one does, or where the frames do not tell.
pub fn no_sample_in(record: &RunRecord, classes: &BTreeSet<String>) -> Option<String> {
    let mut samples = 0;
    for profile in record.profiles.iter().filter(|profile| profile.event == ProfileEvent::Cpu) {
        let stacks = collapsed::parse_collapsed(&profile.stacks.unpack().ok()?).ok()?;
        if !stacks.frames().iter().any(is_of_jvm) || stacks.frames().iter().any(|frame| is_in(frame, classes)) {
            return None;
        }
        samples += stacks.total_weight();
    }
    let names: Vec<String> = classes.iter().cloned().collect();
    (samples > 0).then(|| {
        format!(
            "none of {} samples lies in code that this change touches ({}): unless it acts elsewhere, such as by a value \
             that is set at the start, this check says nothing about the change",
            grouped(samples),
            enumerate(&names)
        )
    })
}

fn is_of_jvm(frame: &Frame) -> bool {
    matches!(frame.kind, FrameKind::Java | FrameKind::Inlined | FrameKind::Interpreted)
}

/// Whether the outer class is one of these, whatever its package: rather too many than too few.
fn is_in(frame: &Frame, classes: &BTreeSet<String>) -> bool {
    is_of_jvm(frame) && frame.short_name().split(['.', '$']).next().is_some_and(|class| classes.contains(class))
}
