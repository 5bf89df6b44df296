//! The number of answers by which the readings of a server's probes are divided.

use tare_load::SliceSample;
use tare_record::ServerUse;

/// The JVM may allocate bodies of this size and more where they cannot be counted.
const HUGE_BODY_BYTES: u64 = 256 * 1024;

/// Readings over a span of load, with the number of answers that caused the CPU time and the allocations.
pub(crate) fn per_request(mut readings: ServerUse, sample: &SliceSample) -> ServerUse {
    let is_huge = sample.bytes_in + sample.bytes_out > HUGE_BODY_BYTES * sample.completed.max(1);
    if let Some(cpu) = &mut readings.cpu {
        cpu.requests = sample.completed_in_slice;
    }
    if let Some(jvm) = &mut readings.jvm {
        jvm.requests = sample.completed_in_slice;
        jvm.allocated_bytes = jvm.allocated_bytes.filter(|_| !is_huge);
    }
    readings
}

#[cfg(test)]
mod tests {
    use tare_record::{JvmUse, ServerCpu};

    use super::*;

    fn readings() -> ServerUse {
        let jvm = JvmUse { allocated_bytes: Some(1_000), ..JvmUse::default() };
        ServerUse {
            cpu: Some(ServerCpu { total_ns: 5, ..ServerCpu::default() }),
            jvm: Some(jvm),
            ..ServerUse::default()
        }
    }

    #[test]
    fn cpu_and_allocations_are_spent_on_all_answers_of_the_slice() {
        let sample = SliceSample { completed: 90, completed_in_slice: 120, ..SliceSample::default() };
        let known = per_request(readings(), &sample);
        assert_eq!(known.cpu.map(|cpu| (cpu.total_ns, cpu.requests)), Some((5, 120)));
        assert_eq!(known.jvm.map(|jvm| (jvm.allocated_bytes, jvm.requests)), Some((Some(1_000), 120)));
    }

    #[test]
    fn allocations_of_huge_bodies_are_not_counted() {
        for (bytes, is_counted) in [(HUGE_BODY_BYTES * 10, true), (HUGE_BODY_BYTES * 10 + 1, false)] {
            let sample = SliceSample { completed: 10, bytes_in: bytes - 1, bytes_out: 1, ..SliceSample::default() };
            let jvm = per_request(readings(), &sample).jvm.unwrap();
            assert_eq!(jvm.allocated_bytes.is_some(), is_counted, "{bytes} bytes in 10 answers");
        }
    }
}
