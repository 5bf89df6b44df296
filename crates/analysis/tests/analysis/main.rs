//! The answers to synthetic records whose truth is planted.

// Helpers of tests are tests, which clippy cannot see.
#![allow(clippy::unwrap_used)]

mod attributions;
mod controls;
mod first_answers;
mod forecasts;
mod groups;
mod latency_division;
mod next_steps;
mod overload;
mod priors;
mod probes;
mod stops;
mod summaries;
mod synthetic;
mod validity;
