//! Looks for bytes that break `tare_hostile::frames`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tare_hostile::frames(bytes));
