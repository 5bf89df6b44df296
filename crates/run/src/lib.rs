//! The loop over forks and slices: from a plan to a record. `tare-load` drives the slices, `tare-sut` runs the servers,
//! and `tare-report` says what the figures mean.

mod compared;
mod context;
mod error;
mod fork;
pub mod load;
pub mod load_host;
mod machine;
pub mod preflight;
pub mod prepare;
mod processes;
pub mod progress;
mod resume;
mod scenario;
mod schedule;
mod sequential;
pub mod server_host;
mod servers;
mod test_bed;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tare_plan::Plan;
use tare_plan::plan::Mode;
use tare_record::store::{InterruptedRun, ReopenedRun, RunWriter};
use tare_record::{EndStatus, EventKind, EventRecord, RunHeader, RunRecord};
use tare_sut::SutError;

use crate::context::RunContext;
use crate::context::cores::Cores;
use crate::context::journal::Journal;
use crate::processes::ProcessBed;
use crate::server_host::ServerMachine;

pub use context::journal::Observer;
pub use context::{ReasonsToStop, RunInputs};
pub use error::{RunError, plain_line};
pub use machine::machine_state;
pub use machine::named_cores::named_cores;

/// Checks what a plan asks of this machine, of that of its servers and of its agents, before anything is built or
/// recorded. [`RunError::Plan`] says what is not there or cannot be done.
pub fn check_plan(plan: &Plan, host: Option<&dyn ServerMachine>) -> Result<(), RunError> {
    if host.is_some() {
        server_host::check_possible(plan)?;
    }
    load_host::check_possible(plan)?;
    Cores::from_plan(plan, host).map(|_| ())
}

/// Runs a plan, and keeps everything in the record. Failures of servers are events of it. Whatever happens, no server
/// is left running, and what was measured before is in the record.
pub fn run(
    header: RunHeader,
    writer: RunWriter,
    inputs: &RunInputs<'_>,
    observer: &mut Observer<'_>,
) -> Result<RunRecord, RunError> {
    carry_out(RunRecord::begin(header), writer, inputs, observer, None)
}

/// Goes on with a run that was interrupted, in the same record: the start that was cut short is measured again, and all
/// others count. [`RunError::Resume`] where machine, programs or tare differ from those before.
pub fn resume(run: InterruptedRun, inputs: &RunInputs<'_>, observer: &mut Observer<'_>) -> Result<RunRecord, RunError> {
    resume::check_unchanged(&run, inputs)?;
    let slices = run.record.slices.len();
    let ReopenedRun { record, writer, copy } = run.reopen()?;
    let copy = copy.and_then(|copy| Some(copy.file_name()?.to_string_lossy().into_owned()));
    let resumed = EventKind::RunResumed { cut_slices: slices - record.slices.len(), copy };
    carry_out(record, writer, inputs, observer, Some(EventRecord::new(resumed)))
}

/// Measures what the plan of the record still needs, after recording `first`.
fn carry_out(
    record: RunRecord,
    writer: RunWriter,
    inputs: &RunInputs<'_>,
    observer: &mut Observer<'_>,
    first: Option<EventRecord>,
) -> Result<RunRecord, RunError> {
    let plan = record.header.plan.clone();
    let cores = Cores::from_plan(&plan, inputs.host)?;
    let elapsed = record.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.at_ns);
    let bed = ProcessBed::new(&plan, inputs, &cores, Duration::from_nanos(elapsed));
    let journal = Journal::begin(record, Some(writer), observer);
    let mut context = RunContext::new(&plan, cores, Box::new(bed), journal, inputs.reasons_to_stop);
    context.checkpoint.files = resume::files_of_run(&plan, inputs);
    let result = first
        .map_or(Ok(()), |event| context.record_event(event))
        .and_then(|()| prepare_machine(inputs, &mut context))
        .and_then(|()| measure(&mut context))
        .and_then(|status| {
            let closing = context.bed.closing_event().map(EventRecord::new);
            closing.map_or(Ok(()), |event| context.record_event(event)).map(|()| status)
        });
    match end_of_run(result) {
        Ok(status) => context.finish(status),
        Err(error) => {
            // Closing may fail for the same reason. The first error is reported.
            let _ = context.record_event(EventRecord::new(EventKind::TareFailed { error: error.to_string() }));
            let _ = context.finish(EndStatus::Failed);
            Err(error)
        }
    }
}

/// Ctrl-C while the self-test's server starts is no failure of tare.
fn end_of_run(result: Result<EndStatus, RunError>) -> Result<EndStatus, RunError> {
    match result {
        Err(RunError::Server(SutError::Cancelled { .. })) => Ok(EndStatus::Interrupted),
        result => result,
    }
}

/// Makes the folders of the run and checks the machine.
fn prepare_machine(inputs: &RunInputs<'_>, context: &mut RunContext<'_>) -> Result<(), RunError> {
    let make = |path: &std::path::Path| {
        std::fs::create_dir_all(path).map_err(|source| RunError::Logs { path: path.to_owned(), source })
    };
    make(inputs.logs)?;
    if context.plan.mode == Mode::Profiled {
        make(inputs.profiles)?;
    }
    preflight::check(inputs, context)?;
    let Some(reason) = &inputs.launches.no_meter else { return Ok(()) };
    context.record_new_event(EventRecord::new(EventKind::MeterMissing { reason: reason.clone() }))
}

fn measure(context: &mut RunContext<'_>) -> Result<EndStatus, RunError> {
    context.save_checkpoint()?;
    match context.plan.mode {
        Mode::Compared | Mode::Profiled => compared::run_compared(context),
        Mode::Sequential => sequential::run_sequential(context),
    }
}
