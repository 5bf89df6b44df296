//! What tare reads of other programs while they run: files of the kernel, counters of a JVM, stacks of a profiler.

use tare_profile::collapsed::{parse_collapsed, write_collapsed};
use tare_sut::probe::jvm::hsperf::parse_counters;
use tare_sys::procfs::machine::{self, CpuTicks};
use tare_sys::procfs::net::parse_listeners;
use tare_sys::procfs::process::{Memory, SchedStat, Stat};

/// Any bytes are read as a JVM's counters or refused; names and texts are never longer than the file.
pub fn check_counters(bytes: &[u8]) {
    let Some(counters) = parse_counters(bytes) else { return };
    let names = counters.numbers.keys().chain(counters.texts.values());
    names.for_each(|text| assert!(text.len() <= bytes.len(), "a text of {} bytes", text.len()));
}

/// Any text is read as each of the kernel's files, or refused.
pub fn check_procfs(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = (Stat::parse(text), Memory::parse(text), SchedStat::parse(text), parse_listeners(text));
    let _ = (machine::parse_pressure(text), machine::cpu_model(text), machine::memory_bytes(text));
    let _ = (CpuTicks::parse(text, None), CpuTicks::parse(text, Some(1)), machine::bracketed_word(text));
}

/// Any text is refused as stacks, or reads again as it is written.
pub fn check_stacks(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(stacks) = parse_collapsed(text) else { return };
    let written = write_collapsed(&stacks);
    match parse_collapsed(&written) {
        Ok(again) => assert_eq!(write_collapsed(&again), written, "the stacks read again"),
        Err(error) => panic!("{error} in {written:?}"),
    }
}
