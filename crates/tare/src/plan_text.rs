//! The plan as text: the few lines before a run, and the whole of it for `--dry-run`.

use std::fmt::Write as _;

use tare_plan::estimate::run_time;
use tare_plan::plan::{Forks, Mode, Plan, Role, Warmup};

use crate::console::human_duration;

/// The lines before a run: what is weighed, where, and how long it takes.
pub fn headline(plan: &Plan) -> String {
    let servers: usize =
        plan.groups.iter().map(|g| g.variants.iter().filter(|v| v.role != Role::Control).count()).sum();
    let mut scenarios: Vec<&str> =
        plan.groups.iter().flat_map(|g| g.scenarios.iter().map(|s| s.name.as_str())).collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    let mut baselines: Vec<&str> = plan.groups.iter().map(|g| g.baseline().name.as_str()).collect();
    baselines.sort_unstable();
    baselines.dedup();
    let mut text = format!(
        "tare · {} · {} × {} · {} · baseline {}\n",
        if plan.suite == "command line" { plan.suite.clone() } else { format!("suite {}", plan.suite) },
        count(servers, "server"),
        count(scenarios.len(), "scenario"),
        count(plan.load.users as usize, "user"),
        baselines.join(", "),
    );
    let _ = writeln!(
        text,
        "  server: cores {} · generator: cores {} · seed {}",
        plan.machine.server_cpus, plan.machine.load_cpus, plan.seed
    );
    let _ = writeln!(text, "  {}", ending(plan));
    for skipped in &plan.skipped {
        let _ = writeln!(text, "  left out: {} ({})", skipped.what, skipped.because);
    }
    text
}

fn ending(plan: &Plan) -> String {
    let about = human_duration(run_time(plan));
    match (plan.mode, plan.stop.forks) {
        (Mode::Sequential, _) => {
            format!("{} one after another, one start each: no intervals; about {about}", count(plan.cells(), "cell"))
        }
        (_, Forks::Fixed { count: forks }) => {
            format!("{} of each variant; about {about}", count(forks as usize, "start"))
        }
        (_, Forks::UntilDecided { .. }) => format!(
            "stops when decided (±{} % region, α {}) or after {about}",
            plan.stop.region * 100.0,
            plan.stop.alpha
        ),
    }
}

/// The whole plan: groups, then every setting with its source and meaning.
pub fn whole(plan: &Plan) -> String {
    let mut text = headline(plan);
    let _ = writeln!(text, "\nquestion  {}\nplan      {}", plan.question, &plan.hash()[..16]);
    for group in &plan.groups {
        let _ = writeln!(text, "\ngroup {}", group.id);
        for variant in &group.variants {
            let role = match variant.role {
                Role::Baseline => "baseline",
                Role::Weighed => "weighed",
                Role::Control => "control (A/A)",
            };
            let version = variant.version.as_deref().map_or(String::new(), |v| format!("  version {v}"));
            let _ = writeln!(text, "  {role:<14} {}{version}", variant.name);
        }
        for named in &group.scenarios {
            let request = &named.scenario.request;
            let _ = writeln!(text, "  scenario       {:<20} {} {}", named.name, request.method, request.path);
        }
    }
    let key = plan.settings.iter().map(|s| s.key.len()).max().unwrap_or(0);
    let value = plan.settings.iter().map(|s| s.value.chars().count()).filter(|n| *n <= 24).max().unwrap_or(0);
    let mut section = "";
    for setting in &plan.settings {
        if setting.section != section {
            section = &setting.section;
            let _ = writeln!(text, "\n{section}");
        }
        let _ = writeln!(
            text,
            "  {:<key$}  {:<value$}  {:<7}  {}",
            setting.key,
            setting.value,
            setting.source.name(),
            setting.meaning
        );
    }
    if let Warmup::UntilSteady { .. } = plan.warmup {
        text.push_str("\nsteady means: JIT below 1 % of CPU, log CPU per request within ±0.3 % per 3 s, no shift in the last 5 s\n");
    }
    text
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
