//! Gatling: in a JVM of its own, with the one simulation in `servers/gatling`, a closed loop.

use std::sync::atomic::AtomicBool;

use tare_plan::{Engine, Plan};
use tare_record::cross_check::ToolFigures;
use tare_sut::catalog::{Catalog, Target};
use tare_sut::jdk::Jdk;
use tare_sut::launch::JvmSettings;
use tare_sys::affinity::CpuSet;

use super::{Cell, Tool};
use crate::error::RunError;
use crate::prepare::catalog::jdk_home;

/// The family in the catalog, and the program in it.
const FAMILY: &str = "gatling";
const PROGRAM: &str = "gatling.Main";
/// As Gatling's own start script has them.
const JVM_OPTIONS: [&str; 3] = ["-Xmx1g", "-XX:+UseG1GC", "--add-opens=java.base/java.lang=ALL-UNNAMED"];
const MILLISECOND_NS: u64 = 1_000_000;

/// Builds the simulation, where that is stale.
pub(super) fn find(
    plan: &Plan,
    catalog: Option<&Catalog>,
    cancelled: &AtomicBool,
    progress: &mut dyn FnMut(&str),
) -> Result<Tool, RunError> {
    let missing = |message: String| RunError::Engine { engine: Engine::Gatling, message };
    let catalog = catalog.ok_or_else(|| {
        missing("its simulation is built from servers/, which is not there; run tare from its own folder".to_owned())
    })?;
    let target: Target = catalog.default_target(FAMILY)?;
    let compiler = Jdk::find_compiler().ok().map(|jdk| jdk.home);
    let targets = std::slice::from_ref(&target);
    let unavailable = catalog.build_targets(targets, compiler.as_deref(), cancelled, &mut |time, line| {
        progress(&format!("building gatling  {} s  {line}", time.as_secs()));
    })?;
    if let Some((_, why)) = unavailable.first() {
        return Err(missing(format!("it is not available here: {}; leave it out", why.reason)));
    }
    let processors = plan.machine.load_cpus.parse::<CpuSet>().map_or(1, |cpus| cpus.len() as u32);
    let options = JVM_OPTIONS.map(str::to_owned);
    let java = Jdk::find_suitable(catalog.min_java(FAMILY)?, jdk_home(plan))?;
    let jvm = JvmSettings { options: &options, processors, java: Some(&java) };
    let started = catalog.program_launch(PROGRAM, &target, jvm)?;
    Ok(Tool { engine: Engine::Gatling, version: target.version, start: started.command, arguments, figures })
}

fn arguments(cell: &Cell<'_>) -> Result<Vec<String>, String> {
    let request = &cell.named.scenario.request;
    let mut arguments = vec![
        cell.folder.display().to_string(),
        cell.url.clone(),
        request.method.clone(),
        cell.body_file().unwrap_or_else(|| "-".to_owned()),
        cell.status.to_string(),
        cell.users.to_string(),
        cell.seconds().to_string(),
        cell.timeout.as_millis().to_string(),
    ];
    arguments.extend(request.headers.iter().flat_map(|(name, value)| [name.clone(), value.clone()]));
    Ok(arguments)
}

/// Reads the table of all requests that Gatling prints at its end: total, right and failed, in whole milliseconds.
fn figures(output: &str) -> Result<ToolFigures, String> {
    let rows: Vec<Row<'_>> = output.lines().filter_map(row).collect();
    let find = |name: &str| {
        let found = rows.iter().find(|row| row.name == name);
        found.ok_or_else(|| format!("it printed no \"{name}\": {}", output.lines().last().unwrap_or("nothing at all")))
    };
    let (requests, per_s) = (find("request count")?, find("mean throughput (rps)")?);
    let percentile = |row: &Row<'_>| {
        let place = row.name.strip_prefix("response time ")?.strip_suffix("th percentile (ms)")?;
        Some((finite(place)?, nanos(row.ok)))
    };
    Ok(ToolFigures {
        // It prints a count and a mean rate; the rate is the count divided by this.
        window_ns: if per_s.total > 0.0 { (requests.total / per_s.total * 1e9) as u64 } else { 0 },
        ok: requests.ok as u64,
        failed: (requests.total - requests.ok) as u64,
        mean_ns: find("mean response time (ms)")?.ok * MILLISECOND_NS as f64,
        max_ns: nanos(find("max response time (ms)")?.ok),
        percentiles: rows.iter().filter_map(percentile).collect(),
        resolution_ns: MILLISECOND_NS,
    })
}

/// A number; `None` for one that is infinite or none, which Rust reads too.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

fn nanos(ms: f64) -> u64 {
    (ms.max(0.0) * MILLISECOND_NS as f64) as u64
}

/// A row of Gatling's table; what it prints as "-" is 0.
struct Row<'a> {
    name: &'a str,
    total: f64,
    ok: f64,
}

/// Reads `> request count      |     2,440 |     2,440 |         -`.
fn row(line: &str) -> Option<Row<'_>> {
    let mut columns = line.strip_prefix("> ")?.split('|').map(str::trim);
    let name = columns.next()?;
    let mut number = || {
        let text = columns.next()?;
        if text == "-" { Some(0.0) } else { finite(&text.replace(',', "")) }
    };
    Some(Row { name, total: number()?, ok: number()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
---- Requests -----------------------------------------------------------------------|---Total---|-----OK----|----KO----
> Global                                                                             |     2,440 |     2,440 |         0
Generating reports...
---- Global Information -------------------------------------------------------------|---Total---|-----OK----|----KO----
> request count                                                                      |     2,440 |     2,437 |         3
> max response time (ms)                                                             |     1,157 |     1,157 |         -
> mean response time (ms)                                                            |         8 |         8 |         -
> response time 50th percentile (ms)                                                 |         1 |         1 |         -
> response time 99th percentile (ms)                                                 |       204 |       204 |         -
> mean throughput (rps)                                                              |       610 |       609 |         1
";

    #[test]
    fn figures_are_read_from_the_table_at_the_end() {
        let read = figures(OUTPUT).unwrap();
        assert_eq!((read.window_ns, read.ok, read.failed), (4_000_000_000, 2_437, 3));
        assert_eq!((read.mean_ns, read.max_ns), (8e6, 1_157_000_000));
        assert_eq!(read.percentiles, [(50.0, 1_000_000), (99.0, 204_000_000)]);
    }

    #[test]
    fn a_table_that_is_not_there_is_said_with_what_was_printed_last() {
        for output in ["", "Run crashed", &OUTPUT[..OUTPUT.len() - 60]] {
            assert!(figures(output).unwrap_err().starts_with("it printed no \""), "{output}");
        }
    }

    #[test]
    fn what_is_no_number_is_no_figure() {
        let mean = OUTPUT.replace("|         8 |         8 |", "|         8 |       NaN |");
        assert!(figures(&mean).unwrap_err().starts_with("it printed no \"mean response time (ms)\""));
        let read = figures(&OUTPUT.replace("50th", "nanth")).unwrap();
        assert_eq!(read.percentiles, [(99.0, 204_000_000)]);
    }

    #[test]
    fn whatever_is_cut_off_is_no_panic() {
        (0..OUTPUT.len()).for_each(|end| drop(figures(&OUTPUT[..end])));
    }
}
