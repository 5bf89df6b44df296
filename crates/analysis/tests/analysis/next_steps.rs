//! What to do after a run, and what a reader is told of servers that may be the same.

use std::collections::BTreeMap;

use tare_analysis::summarize;
use tare_analysis::summary::VerdictKind;
use tare_plan::plan::{CommandServer, Program, Source};
use tare_record::{EventKind, EventRecord, RunRecord};

use crate::synthetic::{ALL_KINDS, Truth, baseline, control, run, standard, variant};

/// The record with servers of a suite: each runs the same command, the second one with `LAYER=1`.
fn of_suite(mut record: RunRecord) -> RunRecord {
    record.header.plan.suite_file = "perf/mine.toml".to_owned();
    for variant in &mut record.header.plan.groups[0].variants {
        let layer = variant.name == "http4s.Tapir";
        let env: BTreeMap<String, String> = layer.then(|| ("LAYER".to_owned(), "1".to_owned())).into_iter().collect();
        let baseline = layer.then(|| "http4s.Vanilla".to_owned());
        let command = ["./serve", "{port}"].map(str::to_owned).to_vec();
        variant.program =
            Program::Command(Box::new(CommandServer { command, env, baseline, ..CommandServer::default() }));
    }
    record
}

/// The command that the summary of this record advises.
fn advised(record: &RunRecord) -> Option<String> {
    summarize(record).next.map(|next| next.command)
}

#[test]
fn a_profile_is_advised_with_all_that_it_needs_to_find_the_servers() {
    assert_eq!(advised(&standard()).as_deref(), Some("tare profile http4s.Tapir SimpleGet --against http4s.Vanilla"));
    let mut record = of_suite(standard());
    let command = "tare profile http4s.Tapir SimpleGet --against http4s.Vanilla --suite perf/mine.toml";
    assert_eq!(advised(&record).as_deref(), Some(command));
    let given = ["tare", "run", "perf/mine.toml", "--dir=/records", "--home", "/project", "--java", "21"];
    record.header.command = given.map(str::to_owned).to_vec();
    let all = format!("{command} --java 21 --home /project --dir /records");
    assert_eq!(advised(&record), Some(all));
    // Over another protocol, in another JVM or on another machine, another difference would be profiled.
    for flags in ["--protocol h2c --streams 8", "--jvm-options -Xint", "--server-host ssh://a --server-address ::1"] {
        let given = ["tare", "run", "perf/mine.toml"].into_iter().chain(flags.split(' '));
        record.header.command = given.map(str::to_owned).collect();
        assert_eq!(advised(&record), Some(format!("{command} {flags}")));
    }
}

#[test]
fn a_profile_names_server_and_version_apart() {
    let mut record = standard();
    let layer = record.header.plan.groups[0].variants.iter_mut().find(|one| one.name == "http4s.Tapir").unwrap();
    (layer.server, layer.version) = ("tapir.server".to_owned(), Some("1.11.15".to_owned()));
    assert_eq!(advised(&record).as_deref(), Some("tare profile tapir.server SimpleGet --against http4s.Vanilla"));
    record.header.command = ["tare", "run", "--versions", "1.11.15"].map(str::to_owned).to_vec();
    let command = "tare profile tapir.server SimpleGet --against http4s.Vanilla --versions 1.11.15";
    assert_eq!(advised(&record).as_deref(), Some(command));
}

#[test]
fn no_profile_is_advised_of_servers_that_tare_did_not_start() {
    let mut record = standard();
    for variant in &mut record.header.plan.groups[0].variants {
        variant.program = Program::External { url: "http://127.0.0.1:8080".to_owned(), transport: Default::default() };
    }
    assert!(!advised(&record).is_some_and(|command| command.contains("profile")), "{:?}", advised(&record));
}

#[test]
fn a_server_that_is_compared_with_itself_stays_so_in_what_is_advised() {
    let mut record = run(&[baseline(), control()], 6, &ALL_KINDS[..1]);
    // No difference, and a region too narrow for any interval.
    record.header.plan.stop.region = 1e-5;
    record.header.command = ["tare", "run", "--aa=http4s.Vanilla"].map(str::to_owned).to_vec();
    let command = "tare run --aa http4s.Vanilla --scenarios SimpleGet --budget 15m";
    assert_eq!(advised(&record).as_deref(), Some(command), "--servers and --aa exclude each other");
}

#[test]
fn where_nothing_counts_the_reasons_are_next() {
    let mut record = standard();
    record.slices.retain(|slice| slice.key.variant != "http4s.Tapir");
    assert_eq!(advised(&record).as_deref(), Some("tare report 2026-11-20-1 --findings"));
}

#[test]
fn a_variable_that_nothing_shows_to_be_read_is_named_where_nothing_differs() {
    let equal = [baseline(), Truth { fork_sd: 0.001, ..variant("http4s.Tapir", 1.0) }];
    let record = of_suite(run(&equal, 16, &ALL_KINDS[..1]));
    let told = " Only LAYER differs between http4s.Tapir and http4s.Vanilla, and they answered alike in every header: nothing \
                shows that their program reads it.";
    let text = |record: &RunRecord| {
        let summary = summarize(record);
        assert_eq!(summary.comparisons[0].currencies[0].verdict, VerdictKind::NoMaterialDifference);
        summary.headline.text
    };
    assert!(text(&record).ends_with(told), "{}", text(&record));
    let mut checked = record.clone();
    checked.header.plan.set_limits(vec!["throughput < -5%".parse().unwrap()], Source::Flag);
    assert!(text(&checked).starts_with("No regression: ") && text(&checked).ends_with(told), "{}", text(&checked));

    let mut other_headers = record.clone();
    let differ = EventRecord::new(EventKind::HeadersDiffer { differences: vec!["x-layer".to_owned()] });
    other_headers.events.push(EventRecord { variant: Some("http4s.Tapir".to_owned()), ..differ });
    assert!(!text(&other_headers).contains("LAYER"), "an answer shows the layer");
    let mut other_command = record;
    let Program::Command(server) = &mut other_command.header.plan.groups[0].variants[1].program else {
        panic!("a command")
    };
    server.command.push("--layer".to_owned());
    assert!(!text(&other_command).contains("LAYER"), "the command says how they differ");
    assert!(!summarize(&of_suite(standard())).headline.text.contains("LAYER"), "a difference shows it");
}
