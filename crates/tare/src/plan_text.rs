//! The plan as text: the few lines before a run, and the whole of it for `--dry-run`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use tare_analysis::forecast::forecast;
use tare_analysis::format::{places, roughly};
use tare_plan::estimate::{least_budget, run_time};
use tare_plan::plan::{Forks, Mode, Plan, Role};
use tare_report::clean::{sanitize_line, sanitize_lines};
use tare_report::text::wrap;
use tare_units::{Span, count, enumerate};

/// The lines before a run: what is compared, where, and how long it takes. They are at most `width` columns wide.
pub fn plan_headline(plan: &Plan, width: usize) -> String {
    let groups = || plan.groups.iter();
    let compared = groups().flat_map(|g| &g.variants).filter(|v| v.role != Role::Control);
    let servers: BTreeSet<&str> = compared.map(|v| v.name.as_str()).collect();
    let scenarios: BTreeSet<&str> = groups().flat_map(|g| &g.scenarios).map(|s| s.name.as_str()).collect();
    let baselines: BTreeSet<&str> = groups().map(|g| g.baseline().name.as_str()).collect();
    let mut text = format!(
        "tare · {} · {} × {} · {} · baseline {}\n",
        if plan.suite == "command line" { plan.suite.clone() } else { format!("suite {}", plan.suite) },
        count(servers.len() as u64, "server"),
        count(scenarios.len() as u64, "scenario"),
        count(plan.load.users.into(), "user"),
        enumerate(&baselines.into_iter().map(str::to_owned).collect::<Vec<_>>()),
    );
    let _ = writeln!(text, "  {} · seed {}", places(plan), plan.seed);
    let _ = writeln!(text, "  {}{}", ending(plan), profiles(plan));
    text.extend(forecast(plan).map(|forecast| format!("  {forecast}\n")));
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for skipped in &plan.skipped {
        reasons.entry(&skipped.because).or_default().push(skipped.what.clone());
    }
    text.extend(reasons.iter().map(|(because, what)| format!("  left out: {} ({because})\n", enumerate(what))));
    text.lines().map(|line| wrap(&sanitize_line(line), width, 4) + "\n").collect()
}

/// What comes after the scored starts, where the suite asks for it.
fn profiles(plan: &Plan) -> String {
    plan.profiling()
        .map_or(String::new(), |after| format!("; then profiles, about {}", roughly(run_time(&after).as_secs_f64())))
}

fn ending(plan: &Plan) -> String {
    let about = roughly(run_time(plan).as_secs_f64());
    match (plan.mode, plan.stop.forks) {
        (Mode::Sequential, _) => {
            let cells = count(plan.cells() as u64, "cell");
            format!("{cells} one after another, one start each: no intervals; about {about}")
        }
        (_, Forks::Fixed { count: forks }) => {
            format!("{} of each variant; about {about}", count(forks.into(), "start"))
        }
        (_, Forks::UntilDecided { budget, at_least, .. }) => {
            let short = least_budget(plan).map_or(String::new(), |least| too_short(least, at_least));
            let (region, alpha) = (plan.stop.region * 100.0, plan.stop.alpha);
            format!("stops when decided (±{region} % region, error probability {alpha}) or after {budget}{short}")
        }
    }
}

/// What to do about a budget that may decide nothing. A start takes as long only if its warm-up takes all its time.
fn too_short(least: Duration, at_least: u32) -> String {
    // In half minutes, so that a start may take a little longer than planned.
    let enough = Span::from_secs((least.as_secs() / 30 + 1) * 30);
    format!(
        "\n  this budget may be too short to decide anything: {at_least} starts of each server take up to {}, \
         less if they warm up fast; give --budget {enough}, or ask for less (-s, -m)",
        Span::from_secs(least.as_secs())
    )
}

/// The whole plan in `width` columns: groups, then every setting with its source and meaning.
pub fn whole_plan(plan: &Plan, width: usize) -> String {
    let mut text = plan_headline(plan, width);
    let question = wrap(&format!("question  {}", plan.question), width, 10);
    let _ = writeln!(text, "\n{question}\nplan      {}", &plan.hash()[..16]);
    for group in &plan.groups {
        let _ = writeln!(text, "\ngroup {}", group.id);
        for variant in &group.variants {
            let role = match variant.role {
                Role::Baseline => "baseline",
                Role::Compared => "compared",
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
        let facts = format!("  {:<key$}  {:<value$}  {:<7}", setting.key, setting.value, setting.source.name());
        text += &beside(&facts, &setting.meaning, 2 + key + 2 + value + 2 + 7 + 2, width);
    }
    sanitize_lines(&text) + "\n"
}

/// What a setting means, in a column beside its facts where that is wide enough, else below them.
fn beside(facts: &str, meaning: &str, column: usize, width: usize) -> String {
    const WIDE_ENOUGH: usize = 40;
    let facts_width = facts.chars().count();
    if column.max(facts_width + 2) + WIDE_ENOUGH > width {
        return format!("{}\n{}\n", facts.trim_end(), wrap(&format!("      {meaning}"), width, 6));
    }
    let indent = " ".repeat(column.max(facts_width + 2));
    let lines = wrap(&format!("{indent}{meaning}"), width, column);
    format!("{facts}{}\n", &lines[facts_width..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_may_be_too_short_is_no_certain_failure() {
        let said = too_short(Duration::from_secs(127), 3);
        let told = "this budget may be too short to decide anything: 3 starts of each server take up to 2m7s, less if they warm \
                    up fast; give --budget 2m30s";
        assert!(said.trim_start().starts_with(told), "{said}");
    }

    #[test]
    fn the_meaning_of_a_setting_fits_beside_or_below_it() {
        let meaning = "Stop when every comparison is decided, or after this long. Builds are not counted";
        let facts = "  budget  3m  suite  ";
        assert_eq!(
            beside(facts, meaning, 23, 80),
            "  budget  3m  suite    Stop when every comparison is decided, or after this\n                       long. Builds are not counted\n"
        );
        assert_eq!(
            beside(facts, meaning, 50, 80),
            "  budget  3m  suite\n      Stop when every comparison is decided, or after this long. Builds are not\n      counted\n"
        );
    }
}
