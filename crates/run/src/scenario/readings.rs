//! The number of answers by which the readings of a server's probes are divided.

use tare_load::SliceSample;
use tare_plan::plan::{Program, Variant};
use tare_record::ServerUse;

/// A JVM may allocate bodies of this size and more outside its eden, where they are not counted.
const HUGE_BODY_BYTES: u64 = 256 * 1024;

/// Readings of a server over a span of load, with the number of answers that caused the CPU time and the allocations.
pub(crate) fn per_request(readings: ServerUse, variant: &Variant, sample: &SliceSample) -> ServerUse {
    // A runtime that sends its counters counts all that it allocates. A JVM does not: its bytes are those of its eden.
    let counts_all =
        |variant: &Variant| matches!(&variant.program, Program::Command(server) if server.counters.is_some());
    let knows_bytes = !has_huge_bodies(sample) || variant.chain().any(counts_all);
    divided_by(readings, sample.completed_in_slice, knows_bytes)
}

/// The same for a known number of answers. `knows_bytes` says whether the allocated bytes are all.
pub(crate) fn divided_by(mut readings: ServerUse, answers: u64, knows_bytes: bool) -> ServerUse {
    if let Some(cpu) = &mut readings.cpu {
        cpu.requests = answers;
    }
    if let Some(runtime) = &mut readings.runtime {
        runtime.requests = answers;
        runtime.allocated_bytes = runtime.allocated_bytes.filter(|_| knows_bytes);
    }
    readings
}

/// Whether bodies are so large that a JVM does not count what it allocates for them.
pub(crate) fn has_huge_bodies(sample: &SliceSample) -> bool {
    sample.bytes_in + sample.bytes_out > HUGE_BODY_BYTES * sample.completed.max(1)
}

#[cfg(test)]
mod tests {
    use tare_plan::plan::{CommandServer, CounterSource};
    use tare_record::{RuntimeUse, ServerCpu};

    use super::*;
    use crate::tests::plan;

    fn readings() -> ServerUse {
        let runtime = RuntimeUse { allocated_bytes: Some(1_000), ..RuntimeUse::default() };
        ServerUse {
            cpu: Some(ServerCpu { total_ns: 5, ..ServerCpu::default() }),
            runtime: Some(runtime),
            ..ServerUse::default()
        }
    }

    fn started(program: Program) -> Variant {
        Variant { program, ..plan(&["own"], &["Get"]).groups[0].variants[0].clone() }
    }

    #[test]
    fn cpu_and_allocations_are_spent_on_all_answers_of_the_slice() {
        let sample = SliceSample { completed: 90, completed_in_slice: 120, ..SliceSample::default() };
        let known = per_request(readings(), &started(Program::Catalog), &sample);
        assert_eq!(known.cpu.map(|cpu| (cpu.total_ns, cpu.requests)), Some((5, 120)));
        assert_eq!(known.runtime.map(|runtime| (runtime.allocated_bytes, runtime.requests)), Some((Some(1_000), 120)));
    }

    #[test]
    fn allocations_of_huge_bodies_are_not_counted_in_a_jvm() {
        let command = |counters| Program::Command(Box::new(CommandServer { counters, ..CommandServer::default() }));
        for (program, bytes, is_counted) in [
            (Program::Catalog, HUGE_BODY_BYTES * 10, true),
            (Program::Catalog, HUGE_BODY_BYTES * 10 + 1, false),
            (command(None), HUGE_BODY_BYTES * 10 + 1, false),
            (command(Some(CounterSource::Node)), HUGE_BODY_BYTES * 10 + 1, true),
        ] {
            let sample = SliceSample { completed: 10, bytes_in: bytes - 1, bytes_out: 1, ..SliceSample::default() };
            let runtime = per_request(readings(), &started(program), &sample).runtime.unwrap();
            assert_eq!(runtime.allocated_bytes.is_some(), is_counted, "{bytes} bytes in 10 answers");
        }
    }
}
