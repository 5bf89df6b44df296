//! A server's use of resources, observed from outside: CPU by kind of thread, memory, and the counters of a JVM or another runtime.

pub mod counter_socket;
pub mod cpu;
pub mod hiccup;
pub mod jvm;
pub mod kind;
pub mod memory;
pub mod runtime;
