//! What a server uses, seen from outside, without an agent in it: CPU by kind of thread, and memory.

pub mod cpu;
pub mod kind;
pub mod memory;
