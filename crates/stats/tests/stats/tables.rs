//! Tables of many comparisons, judged as a report judges them: how often a stated difference is none, how often an interval
//! misses the truth, and how many differences are found. `TABLES=300 cargo test -p tare-stats --release tables --
//! --nocapture` prints the figures of docs/notebook/2026-11-28-every-cell.md.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use tare_stats::measures::{Measured, judge_measures, reasons_to_stop};
use tare_stats::{
    Comparison, DecisionRule, ForkRatio, Method, MethodKind, Polarity, Region, SD_FLOOR, VariancePrior, Verdict,
};

use crate::normal;

const ALPHA: f64 = 0.05;
/// Standard deviation of a comparison's forks.
const SD: f64 = 0.05;
/// Variants that are compared with one baseline, in the same starts.
const VARIANTS: usize = 6;

/// Student's t with 3 degrees of freedom, scaled to a standard deviation of 1.
fn heavy_tailed(rng: &mut Pcg64) -> f64 {
    let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
    normal(rng) / chi.sqrt()
}

/// 8 of 100 starts cost twice as much.
fn two_modes(rng: &mut Pcg64) -> f64 {
    normal(rng) + if rng.random::<f64>() < 0.08 { 2f64.ln() / SD * 2f64.sqrt() } else { 0.0 }
}

/// What a table consists of.
#[derive(Clone, Copy)]
struct World {
    name: &'static str,
    baselines: usize,
    /// How one start of a server scatters.
    start: fn(&mut Pcg64) -> f64,
    /// Spreads of baselines differ by e to the power of this.
    unlike: f64,
    /// The first baseline scatters so many times as much.
    wild: f64,
    /// The share of the variants that differ from their baseline.
    differing: f64,
}

const USUAL: World = World {
    name: "normal, spreads differ by e^0.6",
    baselines: 30,
    start: normal,
    unlike: 0.6,
    wild: 1.0,
    differing: 0.5,
};

const WORLDS: [World; 7] = [
    USUAL,
    World { name: "all alike", unlike: 0.0, ..USUAL },
    World { name: "t with 3 df", start: heavy_tailed, ..USUAL },
    World { name: "two modes", start: two_modes, unlike: 0.3, ..USUAL },
    World { name: "families differ by e^1", unlike: 1.0, ..USUAL },
    World { name: "one wild family (× 8)", unlike: 0.3, wild: 8.0, ..USUAL },
    World { name: "12 comparisons", baselines: 2, ..USUAL },
];

/// The forks of each comparison of a table, with its true log-ratio.
fn table(world: &World, forks: usize, rng: &mut Pcg64) -> Vec<(f64, Vec<ForkRatio>)> {
    let mut all = Vec::new();
    for baseline in 0..world.baselines {
        let wild = if baseline == 0 { world.wild } else { 1.0 };
        let spread = SD / 2f64.sqrt() * wild * (world.unlike * normal(rng)).exp();
        let beneath: Vec<f64> = (0..forks).map(|_| (world.start)(rng)).collect();
        for _ in 0..VARIANTS {
            let truth = if rng.random::<f64>() < world.differing { 0.1 + 0.3 * rng.random::<f64>() } else { 0.0 };
            let fork = |below: &f64| {
                let log: f64 = truth + spread * ((world.start)(rng) - below);
                ForkRatio::from_pairs(&[(log.exp(), 1.0)]).expect("positive")
            };
            all.push((truth, beneath.iter().map(fork).collect()));
        }
    }
    all
}

/// The forks of a table at a look, as a report compares them: each by itself, or with the spread of all.
fn measure<'a>(table: &'a [(f64, Vec<ForkRatio>)], forks: usize, method: Method, together: bool) -> Vec<Measured<'a>> {
    let measured = |(_, ratios): &'a (f64, Vec<ForkRatio>)| Measured {
        forks: &ratios[..forks],
        polarity: Polarity::LowerIsBetter,
        method,
        sd_floor: SD_FLOOR,
    };
    let mut line: Vec<Measured<'_>> = table.iter().map(measured).collect();
    if together {
        let alone: Vec<Comparison> = line.iter().map(|one| one.at_share(1.0).expect("finite forks")).collect();
        let prior = VariancePrior::of_comparisons(alone.iter()).expect("positive spreads");
        line.iter_mut().for_each(|one| one.method = method.with_prior(prior));
    }
    line
}

/// What became of simulated tables.
#[derive(Default)]
struct Tally {
    tables: f64,
    comparisons: f64,
    missed: f64,
    /// Sum over tables of the share of false ones among stated differences.
    false_share: f64,
    differing: f64,
    found: f64,
    half_widths: f64,
}

impl Tally {
    fn add(&mut self, table: &[(f64, Vec<ForkRatio>)], line: &[Measured<'_>], verdicts: &[Verdict]) {
        let stated: Vec<(bool, bool)> =
            table.iter().zip(verdicts).map(|((truth, _), one)| (*truth == 0.0, one.is_difference())).collect();
        let count = |wanted: (bool, bool)| stated.iter().filter(|one| **one == wanted).count() as f64;
        self.tables += 1.0;
        self.comparisons += table.len() as f64;
        self.false_share += count((true, true)) / (count((true, true)) + count((false, true))).max(1.0);
        self.differing += count((false, true)) + count((false, false));
        self.found += count((false, true));
        for ((truth, _), one) in table.iter().zip(line) {
            let log = one.at_share(1.0).expect("finite forks").log.expect("two forks");
            self.missed += f64::from(u8::from(!log.contains(*truth)));
            self.half_widths += log.half_width();
        }
    }

    fn false_share(&self) -> f64 {
        self.false_share / self.tables
    }

    fn missed(&self) -> f64 {
        self.missed / self.comparisons
    }

    fn power(&self) -> f64 {
        self.found / self.differing
    }

    /// One row of the notebook's table.
    fn row(&self, name: &str, how: &str) -> String {
        let [false_share, missed, power, width] =
            [self.false_share(), self.missed(), self.power(), self.half_widths / self.comparisons].map(|x| 100.0 * x);
        format!("| {name} | {how} | {false_share:.1} % | {missed:.1} % | {power:.0} % | {width:.1} % |")
    }
}

fn tables() -> usize {
    std::env::var("TABLES").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

fn rule(comparisons: usize) -> DecisionRule {
    let region = Region { margin: 0.05 };
    DecisionRule { region, half_width: Some(0.04), comparisons: comparisons as u32, ..DecisionRule::default() }
}

/// Tables with a number of forks that was fixed beforehand.
fn fixed(world: &World, forks: usize, together: bool) -> Tally {
    let (mut rng, mut tally) = (Pcg64::seed_from_u64(53), Tally::default());
    for _ in 0..tables() * 30 / world.baselines {
        let table = table(world, forks, &mut rng);
        let line = measure(&table, forks, Method::FIXED_FORKS, together);
        let verdicts = judge_measures(std::slice::from_ref(&line), &rule(table.len())).expect("finite forks").remove(0);
        tally.add(&table, &line, &verdicts);
    }
    tally
}

/// Three standard errors of a share near 5 % of so many tables, whose comparisons share baselines.
fn three_errors(tally: &Tally) -> f64 {
    3.0 * (0.05 * 0.95 / tally.tables).sqrt() / 2.0
}

#[test]
fn a_table_of_fixed_starts_states_few_false_differences_and_its_intervals_keep_alpha() {
    println!("| starts are | judged | false of those stated | intervals miss | found | half-width |");
    for world in WORLDS {
        let [alone, together] = [false, true].map(|together| fixed(&world, 3, together));
        println!("{}", alone.row(world.name, "each by itself"));
        println!("{}", together.row(world.name, "by the spread of all"));
        let slack = three_errors(&together);
        assert!(together.false_share() < ALPHA + slack, "{}: {}", world.name, together.false_share());
        assert!(together.missed() < ALPHA + slack, "{}: {}", world.name, together.missed());
        assert!(together.power() > alone.power(), "{}: {} after {}", world.name, together.power(), alone.power());
    }
}

#[test]
fn a_table_without_any_difference_seldom_states_one() {
    let tally = fixed(&World { name: "no difference", differing: 0.0, ..USUAL }, 3, true);
    println!(
        "| no difference anywhere | by the spread of all | {:.1} % | {:.1} % |",
        100.0 * tally.false_share(),
        100.0 * tally.missed()
    );
    assert!(tally.false_share() < ALPHA + 2.0 * three_errors(&tally), "{}", tally.false_share());
}

/// A run looks after each start, and a comparison that may stop counts with the verdict of that look.
#[test]
fn a_table_that_is_looked_at_after_each_start_keeps_its_promise() {
    const DECLARED: usize = 6;
    let repeated = Method {
        alpha: ALPHA,
        kind: MethodKind::Repeated { min_forks: 3, max_forks: DECLARED as u32, may_continue: false },
        prior: None,
    };
    println!("| starts are, with looks | judged | false of those stated | intervals miss | found | half-width |");
    for world in [USUAL, WORLDS[2], WORLDS[3]] {
        for together in [false, true] {
            let (mut rng, mut tally) = (Pcg64::seed_from_u64(54), Tally::default());
            for _ in 0..tables() / 2 {
                let table = table(&world, DECLARED, &mut rng);
                let mut ended: Vec<Option<Verdict>> = vec![None; table.len()];
                for forks in 3..=DECLARED {
                    let line = measure(&table, forks, repeated, together);
                    let lines = std::slice::from_ref(&line);
                    let rule = rule(table.len());
                    let verdicts = judge_measures(lines, &rule).expect("finite forks").remove(0);
                    let stops = reasons_to_stop(lines, &rule).expect("finite forks");
                    for ((end, verdict), stop) in ended.iter_mut().zip(&verdicts).zip(&stops) {
                        if end.is_none() && (stop.is_some() || forks == DECLARED) {
                            *end = Some(*verdict);
                        }
                    }
                    if forks == DECLARED {
                        tally.add(&table, &line, &ended.iter().flatten().copied().collect::<Vec<Verdict>>());
                    }
                }
            }
            println!("{}", tally.row(world.name, if together { "by the spread of all" } else { "each by itself" }));
            let slack = three_errors(&tally);
            assert!(tally.false_share() < ALPHA + slack, "{}: {}", world.name, tally.false_share());
            assert!(tally.missed() < ALPHA + slack, "{}: {}", world.name, tally.missed());
        }
    }
}
