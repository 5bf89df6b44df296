//! Looks for bytes that break `tare_hostile::check_pipelined`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tare_hostile::check_pipelined(bytes));
