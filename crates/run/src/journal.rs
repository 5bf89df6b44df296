//! What has been measured so far: on disk at once, so that nothing is lost, and in memory, so that it can be judged.

use tare_record::cross_check::CrossCheckRecord;
use tare_record::profile::ProfileRecord;
use tare_record::sample::{EndStatus, EventRecord, ForkRecord, RunHeader, RunRecord, SliceRecord, WarmupRecord};
use tare_record::store::RunWriter;
use tare_sys::clock::{self, Nanos};

use crate::error::RunError;
use crate::progress::{Place, Progress};

/// Shows what goes on.
pub type Observer<'a> = dyn FnMut(&Progress<'_>) + 'a;

/// The record of a run in the making.
pub struct Journal<'a> {
    record: RunRecord,
    writer: RunWriter,
    origin: Nanos,
    observer: &'a mut Observer<'a>,
}

impl<'a> Journal<'a> {
    /// Begins the record: the run's clock starts here.
    pub fn begin(header: RunHeader, writer: RunWriter, observer: &'a mut Observer<'a>) -> Self {
        Self { record: RunRecord::begin(header), writer, origin: clock::now(), observer }
    }

    /// Everything so far.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Nanoseconds since the run began.
    pub fn elapsed_ns(&self) -> u64 {
        clock::now().since(self.origin)
    }

    /// A stamp of the monotonic clock, counted from the start of the run.
    pub fn since_begin_ns(&self, stamp_ns: u64) -> u64 {
        Nanos(stamp_ns).since(self.origin)
    }

    /// Tells the observer.
    pub fn show(&mut self, progress: &Progress<'_>) {
        (self.observer)(progress);
    }

    /// Keeps a slice.
    ///
    /// # Errors
    /// When the record cannot be written; the slice is then not in memory either.
    pub fn slice(&mut self, slice: SliceRecord) -> Result<(), RunError> {
        let slice = slice.pack();
        self.writer.append_slice(&slice)?;
        self.record.slices.push(slice);
        Ok(())
    }

    /// Keeps what is known of one start.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn fork(&mut self, fork: ForkRecord) -> Result<(), RunError> {
        self.writer.append_fork(&fork)?;
        self.record.forks.push(fork);
        Ok(())
    }

    /// Keeps how a variant warmed up.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn warmup(&mut self, warmup: WarmupRecord) -> Result<(), RunError> {
        self.writer.append_warmup(&warmup)?;
        self.record.warmups.push(warmup);
        Ok(())
    }

    /// Keeps what another load tool said of a cell.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn cross_check(&mut self, check: CrossCheckRecord) -> Result<(), RunError> {
        self.writer.append_cross_check(&check)?;
        self.record.cross_checks.push(check);
        Ok(())
    }

    /// Keeps and shows an event.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn event(&mut self, mut event: EventRecord) -> Result<(), RunError> {
        event.at_ns = self.elapsed_ns();
        (self.observer)(&Progress::Event(&event));
        self.writer.append_event(&event)?;
        self.record.events.push(event);
        Ok(())
    }

    /// Keeps a profile.
    ///
    /// # Errors
    /// When the record cannot be written, or holds scored slices.
    pub fn profile(&mut self, profile: ProfileRecord) -> Result<(), RunError> {
        self.writer.append_profile(&profile)?;
        self.record.profiles.push(profile);
        Ok(())
    }

    /// Closes the record.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn finish(mut self, status: EndStatus) -> Result<RunRecord, RunError> {
        let at_ns = self.elapsed_ns();
        self.writer.finish(status, at_ns)?;
        self.record.end = Some((status, at_ns));
        Ok(self.record)
    }
}

/// An event, where it happened.
pub(crate) fn located(mut event: EventRecord, place: &Place<'_>, variant: &str, scenario: Option<&str>) -> EventRecord {
    event.group = Some(place.group.to_owned());
    event.fork = Some(place.fork);
    event.variant = Some(variant.to_owned());
    event.scenario = scenario.map(str::to_owned);
    event
}
