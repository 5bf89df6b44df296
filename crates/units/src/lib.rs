//! Values that people write in flags and suite files, each with one parser and one error that shows how to write it:
//! durations (`1h30m`), counts (`20k`), percentages, CPU lists, names ([`named_values`]). And values that they only
//! read: figures with a unit (`23.4 µs`), numbers in sentences. This crate reads no clock, file or socket.

mod count;
mod cpu_set;
mod duration_text;
mod figure;
mod file_name;
mod list;
mod named;
mod number;
mod percent;
mod scheduling;
mod span;

pub use count::{parse_count, parse_quantity};
pub use cpu_set::CpuSet;
pub use duration_text::{clock_text, duration, exact_duration, roughly};
pub use figure::{Scale, Unit, single, to_within};
pub use file_name::file_name;
pub use list::{distinct, grouped_by};
pub use named::{nearest_name, unknown_name};
pub use number::{and, bit_rate, count, enumerate, fixed, grouped, rate, share};
pub use percent::Percent;
pub use scheduling::SchedulingPolicy;
pub use span::Span;
