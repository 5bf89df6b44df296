//! The report against synthetic records whose truth is planted.

// Helpers of tests are tests, which clippy cannot see.
#![allow(clippy::unwrap_used)]

mod attributions;
mod ci;
mod compare;
mod controls;
mod cross_checks;
mod forecasts;
mod golden;
mod history;
mod imports;
mod limits;
mod load_outcomes;
mod load_warmups;
mod loads;
mod networks;
mod outputs;
mod pages;
mod priors;
mod probes;
mod profiles;
mod pushes;
mod sentences;
mod stops;
mod summaries;
mod synthetic;
mod validity;
