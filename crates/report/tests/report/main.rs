//! The report against synthetic records whose truth is planted.

// Helpers of tests are tests, which clippy cannot see.
#![allow(clippy::unwrap_used)]

mod ci;
mod compare;
mod cross_checks;
mod golden;
mod history;
mod imports;
mod limits;
#[path = "loads/answers.rs"]
mod load_answers;
#[path = "loads/compared.rs"]
mod load_compared;
#[path = "loads/outcomes.rs"]
mod load_outcomes;
#[path = "loads/server.rs"]
mod load_server;
mod loads;
mod machines;
mod outputs;
mod pages;
mod profiles;
mod pushes;
mod sentences;
#[path = "../../../analysis/tests/analysis/synthetic.rs"]
mod synthetic;
