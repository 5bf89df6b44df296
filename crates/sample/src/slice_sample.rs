//! The counters and histograms of one slice, in one list each, and the few operations on them.

use serde::{Deserialize, Serialize};
use tare_stats::LatencyHistogram;

use crate::answers::{RequestTally, StatusTallies};
use crate::clock::ClockSamples;
use crate::error_class::ErrorTallies;
use crate::messages::MessageTally;
use crate::packed::PackedHistogram;

/// The times of one request, on the monotonic clock in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedRequest {
    /// Intended start by the schedule.
    pub intended_ns: u64,
    /// Actual send; `None` if it was never sent.
    pub sent_ns: Option<u64>,
    /// When its answer was complete, or when it failed.
    pub ended_ns: u64,
    pub is_answered: bool,
    /// Whether it waited because no connection was free.
    pub was_blocked: bool,
}

/// Declares [`SliceSample`] from counters, which add up, histograms, which are merged, and other values with what they
/// are in a turn in which nothing happened. All counters are summed over workers and turns, and are in the record.
macro_rules! slice_sample {
    (
        values { $($(#[$value_attribute:meta])* $value:ident: $Value:ty = $nothing:expr,)* }
        counters { $($(#[$counter_doc:meta])* $counter:ident,)* }
        histograms { $($(#[$histogram_doc:meta])* $histogram:ident,)* }
    ) => {
        /// What one slice of load showed, over all workers: raw counts and histograms.
        ///
        /// The *window* is `[start + discarded head, end)`. A request belongs to the slice's requests when its **intended
        /// start** lies in the window. Everything about it then counts, also what happened in the drain:
        /// `offered = ok + failed`, and `response`, `service`, `send_lag` and `failed_time` hold these requests and no
        /// others. Throughput, bytes and CPU belong to the window by the time at which they **happened**.
        ///
        /// Serialised, it has no histograms and no trace. A counter that an older record does not have is read as 0.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default = "SliceSample::empty", bound(serialize = "", deserialize = "H: Default"))]
        pub struct SliceSample<H = LatencyHistogram> {
            $($(#[$value_attribute])* pub $value: $Value,)*
            $($(#[$counter_doc])* pub $counter: u64,)*
            $($(#[$histogram_doc])* #[serde(skip)] pub $histogram: H,)*
        }

        impl<H: Default> SliceSample<H> {
            /// One turn in which nothing happened.
            pub fn empty() -> Self {
                Self {
                    $($value: $nothing,)*
                    $($counter: 0,)*
                    $($histogram: H::default(),)*
                }
            }
        }

        impl<H> SliceSample<H> {
            pub fn map_histograms<G>(self, convert: impl Fn(H) -> G) -> SliceSample<G> {
                SliceSample {
                    $($value: self.$value,)*
                    $($counter: self.$counter,)*
                    $($histogram: convert(self.$histogram),)*
                }
            }

            /// All counters that add up with their names, in the order of their declaration.
            pub fn counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($counter), self.$counter),)*].into_iter()
            }

            /// All histograms, in the order of their declaration.
            pub fn histograms(&self) -> impl Iterator<Item = &H> {
                [$(&self.$histogram,)*].into_iter()
            }

            pub fn histograms_mut(&mut self) -> impl Iterator<Item = &mut H> {
                [$(&mut self.$histogram,)*].into_iter()
            }
        }

        impl SliceSample {
            fn add_counters(&mut self, other: &Self) {
                $(self.$counter = self.$counter.saturating_add(other.$counter);)*
            }

            fn merge_histograms(&mut self, other: &Self) {
                $(if !other.$histogram.is_empty() {
                    self.$histogram.merge(&other.$histogram);
                })*
            }
        }
    };
}

slice_sample! {
    values {
        /// Start, before the discarded head, in nanoseconds of the monotonic clock; in a record, since the run's start.
        start_ns: u64 = 0,
        /// Length of the head that is not part of the window, in nanoseconds.
        discarded_head_ns: u64 = 0,
        /// Length of the window in nanoseconds; of several turns, the sum.
        window_ns: u64 = 0,
        /// Turns of load that the sample is the sum of: 1, unless turns were appended.
        turns: u32 = 1,
        /// Length in nanoseconds of the ticks in which requests were sent; 0 when each was sent at its intended start.
        tick_ns: u64 = 0,
        /// Worker threads that made the load.
        workers: u32 = 0,
        /// The fewest users that the run's generators could drive, because each worker needs one; 0 where it was not noted.
        least_users: u32 = 0,
        /// Failed requests by class: as many as `failed`. Records before version 7 also count connection events here.
        errors: ErrorTallies = ErrorTallies::default(),
        /// Connection events of the window by class: what failed on a connection and belongs to no request.
        connection_events: ErrorTallies = ErrorTallies::default(),
        /// Answers to the window's requests by status; empty in older records, and where answers have none.
        #[serde(skip_serializing_if = "StatusTallies::is_empty")]
        statuses: StatusTallies = StatusTallies::default(),
        /// What each of several requests showed, if there are several. The last part has it for the whole slice.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        by_request: Vec<RequestTally> = Vec::new(),
        /// Counts of pushed messages; all 0 where the server pushes none.
        messages: MessageTally = MessageTally::default(),
        /// Stamps and round trips from which the server's clock is estimated.
        #[serde(skip)]
        clock_samples: ClockSamples = ClockSamples::default(),
        /// Whether the slice was cut short: its window ended before the stop rule, or requests were cut off.
        cancelled: bool = false,
        /// The first requests of each worker, as many as were asked for, in the order in which they ended.
        #[serde(skip)]
        trace: Vec<TracedRequest> = Vec::new(),
    }
    counters {
        /// Requests whose intended start lies in the window.
        offered,
        /// Offered requests that were sent.
        sent,
        /// Offered requests that were answered as expected.
        ok,
        /// Offered requests that failed, each in one class of `errors`.
        failed,
        /// Expected answers that arrived in the window, whenever they were asked for: over `window_ns`, the throughput.
        completed,
        /// Expected answers of the whole slice, head and drain included, on which the server spent its CPU time.
        completed_in_slice,
        bytes_in,
        /// Bytes of the requests sent in the window.
        bytes_out,
        /// CPU time of the worker threads for making load in the window, in nanoseconds; busy-waiting is not included.
        generator_cpu_ns,
        /// CPU time of the worker threads for busy-waiting in the window, in nanoseconds.
        generator_spin_ns,
        /// Open loop: requests of the window that waited because no connection was free.
        blocked,
        /// Total time that these requests waited, in nanoseconds.
        blocked_ns,
        /// Connections that were opened for the slice, before and during it.
        connections_opened,
        /// Connections that ended unannounced since the slice before, including those closed at a deadline.
        connections_lost,
        /// TLS handshakes that succeeded, for the slice, before and during it.
        tls_handshakes,
        tls_resumed,
        /// Requests of the window that had no answer when the short drain of a cancelled slice ended. They are in no
        /// other number, and its latencies lack them: they may have been the slowest.
        cut_off,
    }
    histograms {
        /// Intended start to the end of the expected answer; of a pushed message, from its send by the server's stamp.
        response,
        /// Actual send to the end of the expected answer.
        service,
        /// Intended start to actual send.
        send_lag,
        /// The most by which an answer may have been stamped late. It is part of `response` and `service`.
        stamp_lag,
        /// Intended start to the failure: kept apart, so that early refusals do not make the latency look better.
        failed_time,
        /// Difference between the period and the time between two messages, by the generator's clock.
        jitter,
    }
}

impl Default for SliceSample {
    fn default() -> Self {
        Self::empty()
    }
}

impl<H> SliceSample<H> {
    /// Begin of the window in nanoseconds, on the clock of `start_ns`.
    pub const fn window_start_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.discarded_head_ns)
    }

    /// End of the window of one turn in nanoseconds, on the clock of `start_ns`.
    pub const fn window_end_ns(&self) -> u64 {
        self.window_start_ns().saturating_add(self.window_ns)
    }

    /// Requests of the window that were answered as expected. All that a server pushes for one, the events of a stream or the
    /// messages of a subscription, is one answer, which counts when it has ended.
    pub const fn answered(&self) -> u64 {
        self.ok.saturating_sub(self.messages.received).saturating_add(self.messages.subscriptions)
    }

    /// Expected answers per second of the window; 0 for an empty window.
    pub fn throughput_per_s(&self) -> f64 {
        if self.window_ns == 0 { 0.0 } else { self.completed as f64 * 1e9 / self.window_ns as f64 }
    }

    /// The workers' share of the CPU time that they could have used, from 0 to 1.
    pub fn generator_cpu_share(&self) -> f64 {
        let available_ns = self.window_ns as f64 * f64::from(self.workers);
        if available_ns == 0.0 { 0.0 } else { self.generator_cpu_ns as f64 / available_ns }
    }

    /// Counts of pushed messages; `None` where the server pushes none.
    pub fn pushed_messages(&self) -> Option<&MessageTally> {
        Some(&self.messages).filter(|messages| !messages.is_empty())
    }
}

impl SliceSample {
    /// Adds the sample of another worker, for the same slice or the same part of it.
    pub fn merge(&mut self, other: &Self) {
        self.window_ns = self.window_ns.max(other.window_ns);
        self.workers += other.workers;
        self.add(other);
    }

    pub fn append(&mut self, later: &Self) {
        self.window_ns += later.window_ns;
        self.workers = self.workers.max(later.workers);
        self.add(later);
    }

    /// Adds later turns of load on the same server. The sum keeps the start of its first turn.
    pub fn append_turn(&mut self, later: &Self) {
        self.turns += later.turns;
        self.append(later);
    }

    pub fn pack(self) -> SliceSample<PackedHistogram> {
        self.map_histograms(|histogram| PackedHistogram::from(&histogram))
    }

    fn add(&mut self, other: &Self) {
        self.add_counters(other);
        self.merge_histograms(other);
        self.errors.merge(&other.errors);
        self.connection_events.merge(&other.connection_events);
        self.statuses.merge(&other.statuses);
        RequestTally::merge_all(&mut self.by_request, &other.by_request);
        self.messages.merge(&other.messages);
        self.clock_samples.merge(&other.clock_samples);
        self.cancelled |= other.cancelled;
        self.trace.extend_from_slice(&other.trace);
    }
}

impl SliceSample<PackedHistogram> {
    /// The pushed messages of several slices and their jitter; `None` where nothing was pushed.
    pub fn sum_pushed_messages<'a>(slices: impl Iterator<Item = &'a Self>) -> Option<(MessageTally, LatencyHistogram)> {
        let pushing = slices.filter_map(|slice| Some((slice.pushed_messages()?, &slice.jitter)));
        pushing.fold(None, |sum, (messages, jitter)| {
            let (mut tally, mut all): (MessageTally, LatencyHistogram) = sum.unwrap_or_default();
            tally.merge(messages);
            jitter.merge_into(&mut all);
            Some((tally, all))
        })
    }
}

#[cfg(test)]
mod tests;
