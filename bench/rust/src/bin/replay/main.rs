//! How often is a server called different from itself? Simulated runs, drawn from recorded forks and from known
//! distributions, judged by the code that judges real runs; run it by `bench/decide/run replay`.
#![allow(clippy::print_stdout, reason = "a bench talks to its user")]

mod options;
mod source;
mod trial;

use std::process::ExitCode;
use std::thread;

use anyhow::{Context, anyhow};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use tare_stats::{Method, MethodKind};

use options::Options;
use source::Source;
use trial::{Tally, simulate};

/// Declared forks, and whether a run may continue past them.
const SCHEDULES: [(u32, bool); 2] = [(6, false), (12, true)];
const ALPHAS: [f64; 2] = [0.05, 0.01];
/// The first look at an interval.
const MIN_FORKS: u32 = 3;

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::from_arguments(std::env::args().skip(1))?;
    let mut sources = Source::known();
    sources.extend(Source::recorded(&options.records)?);
    println!(
        "{:28} {:>5} {:>5} {:>6} {:>8} {:>10} {:>8} {:>8}",
        "source", "α", "forks", "prior", "interval", "verdict", "at stop", "same"
    );
    let rows = thread::scope(|scope| -> anyhow::Result<Vec<Tally>> {
        let threads: Vec<_> = sources.iter().map(|source| scope.spawn(|| simulate_methods(source, &options))).collect();
        let mut rows = Vec::new();
        for thread in threads {
            let tallies = thread.join().map_err(|_| anyhow!("a simulation panicked"))??;
            tallies.iter().for_each(|tally| println!("{}", tally.line()));
            rows.extend(tallies);
        }
        Ok(rows)
    })?;
    if let Some(file) = &options.out {
        let json = serde_json::to_string_pretty(&rows)? + "\n";
        std::fs::write(file, json).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let failed = rows.iter().filter(|row: &&Tally| !row.holds).count();
    println!("\n{}", if failed == 0 { "all of it holds".to_owned() } else { format!("{failed} of it do not hold") });
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Simulates runs of one source under every schedule and α, without and with a prior.
fn simulate_methods(source: &Source, options: &Options) -> anyhow::Result<Vec<Tally>> {
    let mut tallies = Vec::new();
    for (max_forks, may_continue) in SCHEDULES {
        for alpha in ALPHAS {
            for with_prior in [false, true] {
                let mut rng = Pcg64::seed_from_u64(options.seed);
                let method = Method {
                    alpha,
                    kind: MethodKind::Repeated { min_forks: MIN_FORKS, max_forks, may_continue },
                    prior: None,
                };
                tallies.push(simulate(source, method, with_prior, options, &mut rng)?);
            }
        }
    }
    Ok(tallies)
}
