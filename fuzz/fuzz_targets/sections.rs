//! Looks for bytes that break `tare_hostile::check_sections`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tare_hostile::check_sections(bytes));
