//! Keeps CPUs out of deep sleep, where waking up takes longer than what is measured.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

const DEVICE: &str = "/dev/cpu_dma_latency";

/// While it exists, no CPU of the machine enters a sleep state with a wake-up delay.
#[derive(Debug)]
pub struct Wakefulness(#[allow(dead_code, reason = "the request lasts as long as the file is open")] File);

impl Wakefulness {
    /// Requests it from the kernel. Errors: when the device does not exist or this user may not open it. Usually only
    /// root may. Source: the kernel's documentation of the PM Quality of Service interface: a request for 0 µs.
    pub fn keep_awake() -> io::Result<Self> {
        let mut device = OpenOptions::new().write(true).open(DEVICE)?;
        device.write_all(&0_i32.to_ne_bytes())?;
        Ok(Self(device))
    }
}
