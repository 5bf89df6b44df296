//! The program end to end: one test program for all, so that one is linked. Each module is a topic.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod answers;
mod bisect;
mod check;
mod common;
mod compare;
mod docs;
mod examples;
mod external;
mod faults;
mod input;
mod load;
mod outputs;
mod protocols;
mod pushes;
mod verdicts;
mod websocket;
