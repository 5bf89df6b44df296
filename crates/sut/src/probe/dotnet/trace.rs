//! The stream of events of a .NET process (format "nettrace", version 4): an incremental reader that keeps totals.
//!
//! # Source
//! `documentation/coreclr/NetTraceFormat_v4.md` of microsoft/perfview, and `clretwall.man` of dotnet/runtime for the events.

mod cursor;

use std::collections::HashMap;

use cursor::{Cursor, Malformed};

/// The stream begins with this.
const MAGIC: &[u8] = b"Nettrace\x14\0\0\0!FastSerialization.1";
/// No block of a runtime is longer, in bytes.
const MOST_BLOCK_BYTES: usize = 16 << 20;
/// Kinds of events in one stream; a runtime has fewer than a thousand.
const MOST_KINDS: usize = 10_000;
/// Threads that suspend the application at a time; all but one wait for the others.
const MOST_SUSPENDING: usize = 10_000;

/// Reasons of a suspension that are a collection: `SUSPEND_FOR_GC`, and `SUSPEND_FOR_GC_PREP` of one in the background.
const COLLECTIONS: [u32; 2] = [1, 6];

/// Marks in the stream.
const NULL_REFERENCE: u8 = 1;
const BEGIN_OBJECT: u8 = 5;
const END_OBJECT: u8 = 6;

/// The provider of `EventCounters`.
pub(super) const COUNTERS: &str = "System.Runtime";
/// The provider of collections.
pub(super) const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";

/// The collections of one generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collections {
    /// Their number.
    pub count: u64,
    /// For how long they stopped the application, in nanoseconds.
    pub paused_ns: u64,
}

/// The sums of all events so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraceTotals {
    /// Bytes that were allocated since the stream began, without what the reports themselves allocate.
    pub allocated_bytes: f64,
    /// Size of the heap at the last tick, in bytes.
    pub heap_bytes: f64,
    /// Collections by generation.
    pub generations: [Collections; 3],
    /// When the counters were last reported, on the monotonic clock, in nanoseconds; 0 before the first time.
    pub ticked_at_ns: u64,
}

/// Reads a stream in pieces of any size.
#[derive(Debug, Default)]
pub struct TraceReader {
    /// Bytes of an incomplete object.
    waiting: Vec<u8>,
    /// Where they begin in the stream: blocks are aligned to it.
    offset: usize,
    has_begun: bool,
    has_ended: bool,
    /// Ticks of the clock per second.
    frequency: u64,
    kinds: HashMap<u32, EventKind>,
    /// Since when a collection stops the application, by the thread that suspends it and lets it go on. The events of one
    /// thread are in order, those of several are not.
    suspended_at_ns: HashMap<u64, u64>,
    /// The generation of the last collection that began.
    generation: usize,
    /// What a report itself allocates.
    reported: ReportedBytes,
    totals: TraceTotals,
}

/// The least that was allocated from one report of the counters to the next. A report allocates, too (41 KB in .NET Core 3.1):
/// that is the least, when the server gets no requests.
#[derive(Debug, Clone, Copy)]
struct ReportedBytes {
    least: f64,
}

impl Default for ReportedBytes {
    fn default() -> Self {
        Self { least: f64::MAX }
    }
}

impl ReportedBytes {
    /// Bytes of the application among those of a further report. A later one with fewer bytes leaves them as they are: they
    /// belong to the span of load that was under way.
    fn of_application(&mut self, bytes: f64) -> f64 {
        self.least = self.least.min(bytes);
        bytes - self.least
    }
}

/// The events that are read; all others are skipped.
#[derive(Debug, Clone, Copy)]
enum EventKind {
    Counters,
    CollectionStarts,
    Suspends,
    Resumes,
    Other,
}

/// The header of one event. The next one has only what differs.
#[derive(Debug, Clone, Copy, Default)]
struct EventHeader {
    kind: u32,
    thread: u64,
    ticks: u64,
    payload_bytes: usize,
}

impl TraceReader {
    /// Reads further bytes.
    ///
    /// # Errors
    /// When the bytes are not such a stream, or follow its end. The reader cannot be used any more.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        self.waiting.extend_from_slice(bytes);
        while let Some(read) = self.read_object()? {
            self.waiting.drain(..read);
            self.offset += read;
        }
        Ok(())
    }

    /// The sums of all events so far.
    pub const fn totals(&self) -> &TraceTotals {
        &self.totals
    }

    /// Reads the next object; returns its length, or `None` if it is not complete.
    fn read_object(&mut self) -> Result<Option<usize>, Malformed> {
        if self.has_ended {
            return if self.waiting.is_empty() { Ok(None) } else { Err(Malformed("what follows the end")) };
        }
        let waiting = std::mem::take(&mut self.waiting);
        let read = if self.has_begun { self.parse_object(&waiting) } else { self.read_magic(&waiting) };
        self.waiting = waiting;
        read
    }

    fn read_magic(&mut self, waiting: &[u8]) -> Result<Option<usize>, Malformed> {
        let known = waiting.len().min(MAGIC.len());
        if waiting[..known] != MAGIC[..known] {
            return Err(Malformed("the beginning"));
        }
        self.has_begun = known == MAGIC.len();
        Ok(self.has_begun.then_some(known))
    }

    fn parse_object(&mut self, waiting: &[u8]) -> Result<Option<usize>, Malformed> {
        let Some(first) = waiting.first() else { return Ok(None) };
        if *first == NULL_REFERENCE {
            self.has_ended = true;
            return Ok(Some(1));
        }
        let mut cursor = Cursor::new(waiting);
        let Some(name) = none_if_short(object_name(&mut cursor))? else { return Ok(None) };
        if name == b"Trace" {
            // Wall time of the start, its ticks, ticks per second, then size of a pointer, process, processors, sampling.
            let Some(fields) = none_if_short(cursor.take(48))? else { return Ok(None) };
            self.frequency = Cursor::new(&fields[24..]).u64()?;
        } else {
            let Some(size) = none_if_short(cursor.u32())?.map(|size| size as usize) else { return Ok(None) };
            if size > MOST_BLOCK_BYTES {
                return Err(Malformed("the size of a block"));
            }
            let padding = (self.offset + cursor.position()).wrapping_neg() % 4;
            let Some(block) = none_if_short(cursor.take(padding).and_then(|_| cursor.take(size)))? else {
                return Ok(None);
            };
            if cursor.is_at_end() {
                return Ok(None);
            }
            match name {
                b"MetadataBlock" => self.read_block(block, Self::read_metadata)?,
                b"EventBlock" => self.read_block(block, Self::read_event)?,
                _ => {}
            }
        }
        match none_if_short(cursor.u8())? {
            None => Ok(None),
            Some(END_OBJECT) => Ok(Some(cursor.position())),
            Some(_) => Err(Malformed("the end of an object")),
        }
    }

    /// Reads the events of a block.
    fn read_block(
        &mut self,
        block: &[u8],
        each: fn(&mut Self, EventHeader, &[u8]) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(block);
        let header_bytes = usize::from(cursor.u16()?);
        let is_compressed = cursor.u16()? & 1 == 1;
        let rest = header_bytes.checked_sub(cursor.position()).ok_or(Malformed("the header of a block"))?;
        cursor.take(rest)?;
        if !is_compressed {
            return Err(Malformed("the form of a block"));
        }
        let mut header = EventHeader::default();
        while !cursor.is_at_end() {
            header = header.next(&mut cursor)?;
            let payload = cursor.take(header.payload_bytes)?;
            each(self, header, payload)?;
        }
        Ok(())
    }

    /// Records which kind of event a number of the stream stands for.
    fn read_metadata(&mut self, _: EventHeader, payload: &[u8]) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(payload);
        let (number, provider, event, name) = (cursor.u32()?, cursor.text()?, cursor.u32()?, cursor.text()?);
        let kind = match (provider.as_str(), event) {
            (COUNTERS, _) if name == "EventCounters" => EventKind::Counters,
            (RUNTIME, 1) => EventKind::CollectionStarts,
            (RUNTIME, 3) => EventKind::Resumes,
            (RUNTIME, 9) => EventKind::Suspends,
            _ => EventKind::Other,
        };
        if self.kinds.len() >= MOST_KINDS {
            return Err(Malformed("the number of kinds of events"));
        }
        self.kinds.insert(number, kind);
        Ok(())
    }

    fn read_event(&mut self, header: EventHeader, payload: &[u8]) -> Result<(), Malformed> {
        let at_ns = (u128::from(header.ticks) * 1_000_000_000 / u128::from(self.frequency.max(1))) as u64;
        let mut cursor = Cursor::new(payload);
        match self.kinds.get(&header.kind).copied().unwrap_or(EventKind::Other) {
            EventKind::Other => {}
            EventKind::Counters => self.add_counter(&mut cursor, at_ns)?,
            EventKind::CollectionStarts => {
                let (_, generation) = (cursor.u32()?, cursor.u32()?);
                self.generation = (generation as usize).min(self.totals.generations.len() - 1);
                self.totals.generations[self.generation].count += 1;
            }
            EventKind::Suspends => {
                if self.suspended_at_ns.len() >= MOST_SUSPENDING {
                    return Err(Malformed("the number of threads that suspend"));
                }
                // A debugger, a profiler and the runtime itself suspend the application for other reasons.
                if COLLECTIONS.contains(&cursor.u32()?) {
                    self.suspended_at_ns.insert(header.thread, at_ns);
                }
            }
            EventKind::Resumes => {
                if let Some(since) = self.suspended_at_ns.remove(&header.thread) {
                    self.totals.generations[self.generation].paused_ns += at_ns.saturating_sub(since);
                }
            }
        }
        Ok(())
    }

    /// Adds one counter. Its payload begins with its name and its title; then follows the mean, or, of a counter of
    /// increments, the unit of its rate and the increment.
    fn add_counter(&mut self, cursor: &mut Cursor<'_>, at_ns: u64) -> Result<(), Malformed> {
        let (name, _title) = (cursor.text()?, cursor.text()?);
        match name.as_str() {
            "alloc-rate" => {
                cursor.text()?;
                self.totals.allocated_bytes += self.reported.of_application(positive(cursor.f64()?));
                self.totals.ticked_at_ns = self.totals.ticked_at_ns.max(at_ns);
            }
            // In MB.
            "gc-heap-size" => self.totals.heap_bytes = positive(cursor.f64()?) * 1e6,
            _ => {}
        }
        Ok(())
    }
}

impl EventHeader {
    /// The header of the event that follows this one.
    fn next(mut self, cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let flags = cursor.u8()?;
        let has = |bit: u8| flags & (1 << bit) != 0;
        if has(0) {
            self.kind = cursor.varint()? as u32;
        }
        if has(1) {
            let (_sequence, _thread, _processor) = (cursor.varint()?, cursor.varint()?, cursor.varint()?);
        }
        if has(2) {
            self.thread = cursor.varint()?;
        }
        // Stack.
        if has(3) {
            cursor.varint()?;
        }
        self.ticks = self.ticks.wrapping_add(cursor.varint()?);
        // Activity and its parent.
        for bit in [4, 5] {
            if has(bit) {
                cursor.take(16)?;
            }
        }
        if has(7) {
            self.payload_bytes = cursor.varint()? as usize;
        }
        Ok(self)
    }
}

/// The name of the object that begins here.
fn object_name<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], Malformed> {
    for mark in [BEGIN_OBJECT, BEGIN_OBJECT, NULL_REFERENCE] {
        if cursor.u8()? != mark {
            return Err(Malformed("the beginning of an object"));
        }
    }
    let (_version, _least_reader, length) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let name = cursor.take(length.min(64) as usize)?;
    if cursor.u8()? != END_OBJECT {
        return Err(Malformed("the type of an object"));
    }
    Ok(name)
}

/// `None` for a value that is not complete yet, which is no error.
fn none_if_short<T>(value: Result<T, Malformed>) -> Result<Option<T>, Malformed> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(Malformed::TOO_SHORT) => Ok(None),
        Err(malformed) => Err(malformed),
    }
}

/// 0 for a figure that is negative or not a number.
fn positive(figure: f64) -> f64 {
    if figure.is_finite() { figure.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests;
