//! What a server uses, seen from outside, without an agent in it: CPU by kind of thread, memory, and what a JVM tells.

pub mod cpu;
pub mod hiccup;
pub mod jvm;
pub mod kind;
pub mod memory;
