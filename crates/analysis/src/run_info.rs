//! What was asked, where and how it ended; and the plan and the environment as sections of rows.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use tare_plan::plan::{Forks, Mode as PlanMode, Plan, Setting};
use tare_record::environment::Environment;
use tare_record::{EndStatus, EventRecord, RunRecord, StoredSlice};
use tare_units::grouped_by;

use crate::format::{count, places, rfc3339, share};
use crate::summary::{Mode, Row, RunInfo, RunStatus, Section};

/// Flags whose next word is a class path or a module path.
const PATH_FLAGS: [&str; 5] = ["-cp", "-classpath", "--class-path", "-p", "--module-path"];
/// An absolute path of three parts or more, and what it stands behind. A shorter one may be an argument (`/health`).
static LONG_PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(^|[\s=:,;@"'])/[^/\s=:,;@"']+(?:/+[^/\s=:,;@"']+)+/*(/[^/\s=:,;@"']+)/*"#)
        .expect("a regular expression")
});

pub(crate) fn run_info(record: &RunRecord) -> RunInfo {
    let header = &record.header;
    let plan = &header.plan;
    RunInfo {
        id: header.id.clone(),
        suite: plan.suite.clone(),
        question: plan.question.clone(),
        started_at: rfc3339(header.started_unix_ns),
        duration_s: duration_s(&record.slices, &record.events, record.end),
        mode: match plan.mode {
            PlanMode::Compared => Mode::Compared,
            PlanMode::Sequential => Mode::Sequential,
            PlanMode::Profiled => Mode::Profiled,
        },
        status: run_status(record.end),
        command: shell(&header.command),
        seed: plan.seed,
        tare_version: header.tare_version.clone(),
        git_revision: header.git_revision.clone(),
        headline: vec![what(plan), place(plan, &header.environment), stop(plan)],
        region: plan.stop.region,
        alpha: plan.stop.alpha,
        repeats_one_start: plan.never_restarts(),
    }
}

pub fn run_status(end: Option<(EndStatus, u64)>) -> RunStatus {
    match end.map(|(status, _)| status) {
        Some(EndStatus::Complete) => RunStatus::Complete,
        Some(EndStatus::BudgetSpent) => RunStatus::BudgetSpent,
        Some(EndStatus::Interrupted) => RunStatus::Interrupted,
        Some(EndStatus::Failed) | None => RunStatus::Partial,
    }
}

/// Seconds to the end of a record, and without one to the last slice or event in it.
pub fn duration_s(slices: &[StoredSlice], events: &[EventRecord], end: Option<(EndStatus, u64)>) -> f64 {
    let last = slices.iter().map(|s| s.load.window_end_ns()).chain(events.iter().map(|e| e.at_ns)).max().unwrap_or(0);
    end.map_or(last, |(_, at_ns)| at_ns) as f64 / 1e9
}

fn what(plan: &Plan) -> String {
    let variants = plan.groups.iter().flat_map(|g| &g.variants);
    let servers: BTreeSet<&str> = variants.map(|v| v.server.as_str()).collect();
    let scenarios: BTreeSet<&str> = plan.groups.iter().flat_map(|g| &g.scenarios).map(|s| s.name.as_str()).collect();
    let baselines: BTreeSet<&str> =
        plan.groups.iter().filter_map(|g| g.variants.first()).map(|v| v.name.as_str()).collect();
    let baselines: Vec<&str> = baselines.into_iter().collect();
    format!(
        "suite {} · {} × {} · {} · baseline {}",
        plan.suite,
        count(servers.len() as u64, "server"),
        count(scenarios.len() as u64, "scenario"),
        count(plan.load.users.into(), "user"),
        if baselines.is_empty() { "none".to_owned() } else { baselines.join(", ") }
    )
}

fn place(plan: &Plan, environment: &Environment) -> String {
    let jvm = environment.sections.iter().filter(|s| s.title == "JVM").flat_map(|s| &s.facts);
    let mut jdk = jvm.filter(|(key, _)| key == "JDK").map(|(_, value)| {
        let options = plan.machine.jvm_options.join(" ");
        format!(" · JDK {} {options}", value.trim_start_matches("JDK ")).trim_end().to_owned()
    });
    let jdk = jdk.next().unwrap_or_default();
    format!("{}{jdk} · seed {}", places(plan), plan.seed)
}

fn stop(plan: &Plan) -> String {
    let stop = &plan.stop;
    let (region, alpha) = (share(stop.region), stop.alpha);
    match stop.forks {
        _ if plan.mode == PlanMode::Profiled => "profiled starts, none of them scored".to_owned(),
        _ if plan.mode == PlanMode::Sequential => "one start of each cell, one after another: no intervals".to_owned(),
        Forks::Fixed { count: forks } => {
            format!("{} of each (±{region} region, α {alpha})", count(forks.into(), "start"))
        }
        Forks::UntilDecided { budget, at_least, .. } => format!(
            "stops when decided (±{region} region, α {alpha}, at least {}) or after {budget}",
            count(at_least.into(), "start")
        ),
    }
}

/// The command as it can be typed again, on any machine: the program by its name alone.
pub fn shell(command: &[String]) -> String {
    let name = |program: &String| Path::new(program).file_name().map(|name| name.to_string_lossy().into_owned());
    let program = command.first().map(|program| name(program).unwrap_or_else(|| program.clone()));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./,:@%^".contains(c);
    let quote = |word: &String| {
        let bare = !word.is_empty() && word.chars().all(plain);
        if bare { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    program.iter().chain(command.iter().skip(1)).map(quote).collect::<Vec<_>>().join(" ")
}

/// The words of a command with each class path replaced by its number of entries, and each long absolute path by its
/// last part: `…/java -Xmx1g -cp <61 files> Main --port 0`.
pub(crate) fn shortened(command: &[String]) -> Vec<String> {
    let mut words: Vec<String> = Vec::with_capacity(command.len());
    for word in command {
        let is_class_path = words.last().is_some_and(|flag| PATH_FLAGS.contains(&flag.as_str())) && word.contains('/');
        words.push(if is_class_path { entries(word) } else { LONG_PATH.replace_all(word, "$1…$2").into_owned() });
    }
    words
}

fn entries(class_path: &str) -> String {
    format!("<{}>", count(class_path.split(':').filter(|entry| !entry.is_empty()).count() as u64, "file"))
}

/// The settings by section. The record of a load does not say which of them are defaults, so it tells no sources.
pub fn setting_sections(settings: &[Setting], tells_sources: bool) -> Vec<Section> {
    let row = |setting: &Setting| {
        let source = tells_sources.then(|| setting.source.name().to_owned());
        (setting.section.clone(), Row { key: setting.key.clone(), value: setting.value.clone(), source })
    };
    grouped_by(settings.iter().map(row)).into_iter().map(|(title, rows)| Section { title, rows }).collect()
}

pub fn environment_sections(environment: &Environment) -> Vec<Section> {
    let row = |(key, value): &(String, String)| Row { key: key.clone(), value: value.clone(), source: None };
    let section = |s: &tare_record::environment::FactSection| Section {
        title: s.title.clone(),
        rows: s.facts.iter().map(row).collect(),
    };
    environment.sections.iter().map(section).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["tare", "run", "-s", "http4s.*", "it's", ""].map(str::to_owned);
        assert_eq!(shell(&words), r"tare run -s 'http4s.*' 'it'\''s' ''");
    }

    fn short(command: &str) -> String {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        shortened(&words).join(" ")
    }

    #[test]
    fn class_paths_are_counted_and_folders_left_out() {
        let jars = "/home/u/.cache/coursier/v1/https/repo1.maven.org/a.jar:/home/u/.cache/b.jar:classes";
        assert_eq!(
            short(&format!("/usr/lib/jvm/25/bin/java -Xmx1g -cp {jars} tare.Main --port 0")),
            "…/java -Xmx1g -cp <3 files> tare.Main --port 0"
        );
        assert_eq!(short("/srv//app/bin/run --port 0"), "…/run --port 0", "a folder that ended in a slash");
        assert_eq!(
            short("java -javaagent:/opt/tare/lib/agent.jar=/run/user/0/sock -cp /a/b.jar Main"),
            "java -javaagent:…/agent.jar=…/sock -cp <1 file> Main"
        );
    }

    #[test]
    fn what_is_no_path_of_the_machine_stays() {
        for same in ["node server.js", "./server --health /health -p 80", "curl http://127.0.0.1:80/a/b/c", "/bin/true"]
        {
            assert_eq!(short(same), same);
        }
    }
}
