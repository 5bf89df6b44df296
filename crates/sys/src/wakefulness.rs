//! Keeps CPUs from sleeping so deeply that waking up takes longer than what is measured.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

/// The kernel's device for it.
const DEVICE: &str = "/dev/cpu_dma_latency";

/// As long as it lives, no CPU of the machine sleeps more deeply than it can wake up from at once.
#[derive(Debug)]
pub struct Wakefulness(#[allow(dead_code, reason = "the request lasts as long as the file is open")] File);

impl Wakefulness {
    /// Asks the kernel for it.
    ///
    /// # Errors
    /// When the device is not there or this user may not open it; as a rule that takes root.
    ///
    /// # Source
    /// The kernel's documentation of the PM Quality of Service interface: a wish for 0 µs.
    pub fn hold() -> io::Result<Self> {
        let mut device = OpenOptions::new().write(true).open(DEVICE)?;
        device.write_all(&0_i32.to_ne_bytes())?;
        Ok(Self(device))
    }
}
