//! Whether an interrupted run may go on here: the same machine, programs and tare as before.

use std::collections::BTreeMap;

use tare_plan::Plan;
use tare_plan::contract::Contract;
use tare_record::RunRecord;
use tare_record::environment::Environment;
use tare_record::store::InterruptedRun;

use crate::context::RunInputs;
use crate::error::RunError;
use crate::preflight::environment::capture_environment;
use crate::prepare::Launches;

/// What the record calls the contract of the catalog, among the files of a run.
const CONTRACT: &str = "the contract of the servers";

/// The files of all programs of a run: those of its servers, and tare; and what the contract says.
pub(crate) fn files_of_run(plan: &Plan, inputs: &RunInputs<'_>) -> BTreeMap<String, String> {
    let own = inputs.reference.iter().map(|program| program.display().to_string()).collect::<Vec<_>>();
    let mut files = crate::prepare::program_files::program_files(&own, None);
    files.extend(inputs.launches.program_files());
    files.extend(contract_of_run(plan, inputs.contract));
    files
}

/// The contract with its hash in place of a file with its state, where it holds for a server of the plan.
fn contract_of_run(plan: &Plan, contract: &Contract) -> Option<(String, String)> {
    Some((CONTRACT.to_owned(), plan.hash_of_contract(contract)?))
}

/// Checks that the forks to come would measure the same as those before the interruption.
pub(crate) fn check_unchanged(run: &InterruptedRun, inputs: &RunInputs<'_>) -> Result<(), RunError> {
    let header = &run.record.header;
    let refuse = |what: String| Err(RunError::Resume { id: header.id.clone(), what });
    let version = env!("CARGO_PKG_VERSION");
    if header.tare_version != version {
        return refuse(format!("tare {} began it, and this is tare {version}", header.tare_version));
    }
    let now = capture_environment(&header.plan, inputs.launches, inputs.host, inputs.agents);
    if let Some(difference) = machine_difference(&header.environment, &now) {
        return refuse(difference);
    }
    if let Some(difference) = file_difference(&run.checkpoint.files, &files_of_run(&header.plan, inputs)) {
        return refuse(difference);
    }
    command_difference(&header.plan, &run.record, inputs.launches).map_or(Ok(()), refuse)
}

/// How the machine differs from that of the run.
fn machine_difference(then: &Environment, now: &Environment) -> Option<String> {
    let of = |name: &str, then: String, now: String| (then != now).then(|| format!("{name} was {then}, and is {now}"));
    let jdk = |environment: &Environment| environment.jdk_release().map_or("none".to_owned(), |jdk| jdk.to_string());
    of("the machine", then.machine_identity(), now.machine_identity())
        .or_else(|| of("the kernel", then.kernel().to_owned(), now.kernel().to_owned()))
        .or_else(|| of("the JDK", jdk(then), jdk(now)))
}

/// Which file of a program has changed or is gone.
fn file_difference(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Option<String> {
    let changed = then.iter().find(|(file, state)| now.get(*file) != Some(*state))?.0;
    Some(match now.contains_key(changed) {
        true => format!("{changed} has changed since it began"),
        false => format!("{changed} is gone"),
    })
}

/// Which server would be started otherwise than before.
fn command_difference(plan: &Plan, record: &RunRecord, launches: &Launches) -> Option<String> {
    let mut variants = plan.groups.iter().flat_map(|group| group.variants.iter().map(move |variant| (group, variant)));
    variants.find_map(|(group, variant)| {
        let launch = launches.get(variant).ok()?;
        let started = record.forks.iter().find(|fork| fork.group == group.id && fork.variant == variant.name)?;
        let resolved = launches.resolved(variant).ok()?;
        let is_other = started.command != launch.command() || started.healthy && started.resolved != resolved;
        is_other.then(|| format!("{} is not started as before: see its command and versions", variant.name))
    })
}

#[cfg(test)]
mod tests {
    use tare_plan::contract::Lack;
    use tare_plan::plan::Program;
    use tare_record::environment::FactSection;

    use super::*;

    fn environment(cpu: &str, kernel: &str, jdk: &str) -> Environment {
        let section = |title: &str, key: &str, value: &str| FactSection {
            title: title.to_owned(),
            facts: vec![(key.to_owned(), value.to_owned())],
        };
        let sections =
            vec![section("Machine", "CPU", cpu), section("Kernel", "release", kernel), section("JVM", "JDK", jdk)];
        Environment { sections, ..Environment::default() }
    }

    #[test]
    fn another_machine_kernel_or_jdk_is_named() {
        let then = environment("A", "6.1", "21.0.2");
        for (now, says) in [
            (environment("B", "6.1", "21.0.2"), Some("the machine was A")),
            (environment("A", "6.2", "21.0.2"), Some("the kernel was 6.1, and is 6.2")),
            (environment("A", "6.1", "25"), Some("the JDK was 21, and is 25")),
            (environment("A", "6.1", "21.0.2"), None),
        ] {
            let found = machine_difference(&then, &now);
            assert_eq!(found.is_some(), says.is_some());
            assert!(found.unwrap_or_default().starts_with(says.unwrap_or_default()));
        }
    }

    #[test]
    fn a_file_that_changed_or_is_gone_is_named() {
        let files = |state: &str| BTreeMap::from([("/a.jar".to_owned(), state.to_owned())]);
        assert_eq!(file_difference(&files("1"), &files("2")).unwrap(), "/a.jar has changed since it began");
        assert_eq!(file_difference(&files("1"), &BTreeMap::new()).unwrap(), "/a.jar is gone");
        assert_eq!(file_difference(&files("1"), &files("1")), None);
    }

    #[test]
    fn a_contract_that_has_changed_is_named_where_a_server_is_held_to_it() {
        let mut plan = crate::tests::plan(&["a"], &["Get"]);
        let then = Contract::default();
        let because = "it has no such route".to_owned();
        let lack = Lack { servers: vec!["a".to_owned()], scenarios: vec!["Get".to_owned()], because };
        let now = Contract { lacks: vec![lack], ..Contract::default() };
        let difference = |plan: &Plan| {
            let of = |contract: &Contract| contract_of_run(plan, contract).into_iter().collect();
            [file_difference(&of(&then), &of(&then)), file_difference(&of(&then), &of(&now))]
        };
        let changed = "the contract of the servers has changed since it began".to_owned();
        assert_eq!(difference(&plan), [None, Some(changed)]);
        plan.groups[0].variants[0].program = Program::Command(Box::default());
        assert_eq!(difference(&plan), [None, None]);
    }
}
