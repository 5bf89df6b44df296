//! Looks for bytes that break `tare_hostile::histogram`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tare_hostile::histogram(bytes));
