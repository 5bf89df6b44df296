//! `tare compare`, `tare history` and `tare report --ci` on real records of servers with a known difference.

use crate::common::{Bench, QUICK, Reference, all_of, json, server, stderr, stdout};

/// Two runs of a bare server and one that waits longer before it answers.
fn record_two_runs(bench: &Bench) {
    for delay in ["1000", "10000"] {
        let suite =
            [QUICK, &server("bare", None, &[]), &server("layer", Some("bare"), &["--delay-us", delay])].concat();
        // Turns fix the load at which CPU is compared.
        let output = bench.run_suite(&suite, &["--forks", "3", "--turn", "20ms"]);
        assert!(output.status.success(), "{}", all_of(&output));
    }
}

fn error_of(bench: &Bench, args: &[&str]) -> String {
    let output = bench.run(args);
    let said = stderr(&output);
    assert!(!output.status.success() && !said.contains("panicked"), "{args:?}: {}{said}", stdout(&output));
    said
}

#[test]
fn two_runs_are_compared_and_every_form_is_printed() {
    let bench = Bench::new();
    record_two_runs(&bench);
    let ids: Vec<String> = {
        let runs = std::fs::read_dir(bench.path().join(".tare/runs")).unwrap();
        let mut ids: Vec<String> = runs.map(|run| run.unwrap().file_name().to_string_lossy().into_owned()).collect();
        ids.sort();
        ids
    };
    let (old, new) = (ids[0].as_str(), ids[1].as_str());

    let output = bench.run(&["compare", old, new, "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let compared = json(&stdout(&output));
    assert_eq!(compared["same_machine"], true);
    let changes = compared["changes"].as_array().unwrap();
    // Eight users who wait ten times as long ask far less often, however busy the machine is.
    let throughput = changes
        .iter()
        .find(|change| change["variant"] == "layer" && change["name"] == "throughput" && change["basis"] == "level");
    assert!(throughput.unwrap()["ratio"].as_f64().unwrap() < 0.75, "{compared:#}");
    let text = stdout(&bench.run(&["compare", old, "latest"]));
    assert!(text.contains("--delay-us 1000  ") && text.contains("--delay-us 10000"), "{text}");
    assert!(text.contains("Same machine") && text.contains("layer · Get"), "{text}");
    let pair = stdout(&bench.run(&["compare", "bare", "layer", "--of", "latest", "--markdown"]));
    assert!(pair.contains("bare → layer") && pair.contains("| layer | Get |"), "{pair}");

    for (form, says) in [
        ("junit", "layer vs bare"),
        ("comment", "<!-- tare report of "),
        ("bencher", "cpu-per-request-ratio"),
        ("openmetrics", "# EOF"),
        ("github-smaller", "× baseline"),
        ("github-bigger", "throughput"),
        ("otlp", "\"resourceMetrics\""),
        ("picture", "</svg>"),
    ] {
        let printed = stdout(&bench.run(&["report", "latest", "--ci", form]));
        assert!(printed.contains(says), "{form}: {printed}");
    }

    let history = json(&stdout(&bench.run(&["history", "--json"])));
    assert_eq!(history["lines"][0]["points"].as_array().unwrap().len(), 2, "{history:#}");
    assert_eq!(history["lines"][0]["figure"], "CPU/request, × bare");

    compare_over_machines(&bench, old, new);

    // What lies beside a record is read wherever the command is typed.
    let folder = bench.path().join(".tare/runs").join(new);
    std::fs::create_dir(folder.join("profile")).unwrap();
    std::fs::write(folder.join("profile/record.sqlite"), "no record").unwrap();
    let before = format!("../{old}/record.sqlite");
    let beside = bench.tare(&["compare", &before, "record.sqlite"]).current_dir(&folder).output().unwrap();
    assert!(beside.status.success() && stderr(&beside).contains("the profiles are left out"), "{}", all_of(&beside));

    let said = error_of(&bench, &["compare", new, "latest"]);
    assert!(said.contains("are the same run"), "{said}");
    let said = error_of(&bench, &["compare", old, "nowhere"]);
    assert!(said.contains("there is no run \"nowhere\""), "{said}");
    let said = error_of(&bench, &["compare", "bare", "nobody", "--of", new]);
    assert!(said.contains("no server \"nobody\": it has bare, layer"), "{said}");

    std::fs::write(bench.path().join(".tare/runs").join(new).join("record.sqlite"), "x".repeat(999)).unwrap();
    let said = format!("run {new} is left out: ");
    for args in [&["report", "latest", "--csv"][..], &["compare", "bare", "layer", "--of", "latest"]] {
        let output = bench.run(args);
        assert!(output.status.success() && stderr(&output).contains(&said), "{args:?}: {}", stderr(&output));
    }
    assert!(error_of(&bench, &["run", "--resume"]).contains(&said));
    bench.assert_nothing_left();
}

/// A copy of a run as if another processor had measured it.
fn copy_to_machine(bench: &Bench, run: &str, cpu: &str) -> String {
    let copy = bench.path().join(cpu);
    std::fs::copy(bench.path().join(".tare/runs").join(run).join("record.sqlite"), &copy).unwrap();
    let on_another = |text: &str| {
        let mut document = json(text);
        if document.pointer("/environment/sections").is_some() {
            let sections = document["environment"]["sections"].as_array_mut().unwrap().iter_mut();
            let facts = sections.flat_map(|section| section["facts"].as_array_mut().unwrap());
            facts.filter(|fact| fact[0] == "CPU").for_each(|fact| fact[1] = cpu.into());
            // Otherwise it would be the same run.
            document["started_unix_ns"] = (document["started_unix_ns"].as_i64().unwrap() + 1).into();
        }
        document.to_string()
    };
    tare_record::store::rewrite_record(&copy, on_another).unwrap();
    copy.to_string_lossy().into_owned()
}

/// Runs of several machines are a table over machines; what cannot be one is refused with the remedy.
fn compare_over_machines(bench: &Bench, old: &str, new: &str) {
    let (xeon, arm) = (copy_to_machine(bench, old, "xeon"), copy_to_machine(bench, new, "arm"));
    let two = stdout(&bench.run(&["compare", old, &xeon]));
    let two = two.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(two.contains("2 machines (2 runs)") && two.contains("nothing is said of a third"), "{two}");
    let three = json(&stdout(&bench.run(&["compare", old, &xeon, new, &arm, "--json"])));
    let machines = three["machines"].as_array().unwrap();
    let runs: Vec<usize> = machines.iter().map(|machine| machine["runs"].as_array().unwrap().len()).collect();
    assert_eq!((runs, &three["schema"]), (vec![2, 1, 1], &"tare-machines/1".into()), "{three:#}");
    let cpu = three["figures"].as_array().unwrap().iter().find(|figure| figure["name"] == "cpu_per_request").unwrap();
    assert!(cpu["machines"][0]["starts"].as_u64().unwrap() > 3, "of both runs: {cpu:#}");
    assert!(cpu["another_machine"]["lo"].as_f64().unwrap() < cpu["mean"]["lo"].as_f64().unwrap(), "{cpu:#}");
    let markdown = stdout(&bench.run(&["compare", old, &xeon, &arm, "--markdown"]));
    assert!(
        markdown.contains("mean over machines | another machine") && markdown.contains("- Machine 3: arm"),
        "{markdown}"
    );
    let said = error_of(bench, &["compare", old, new, &xeon, &xeon]);
    assert!(said.contains("are the same run"), "{said}");
    let said = error_of(bench, &["compare", "bare", "layer", "other", "--of", new]);
    assert!(said.contains("--of"), "{said}");
}

#[test]
fn results_of_other_tools_join_the_history_whole_or_not_at_all() {
    let bench = Bench::new();
    let hyperfine = r#"{"results": [{"command": "true", "mean": 0.001, "times": [0.001, 0.0011, 0.0009]}]}"#;
    std::fs::write(bench.path().join("whole.json"), hyperfine).unwrap();
    std::fs::write(bench.path().join("cut.json"), &hyperfine[..30]).unwrap();
    let said = error_of(&bench, &["history", "import", "whole.json", "cut.json"]);
    assert!(said.contains("cannot import cut.json: it is no whole JSON"), "{said}");
    assert!(stdout(&bench.run(&["history"])).contains("no figures yet"), "nothing of a failed import stays");

    let import = || bench.run(&["history", "import", "whole.json", "--revision", "a1b2c3"]);
    let told = "whole.json: 1 figure of hyperfine\n";
    assert_eq!(stdout(&import()), told);
    let again = import();
    assert_eq!(
        (stdout(&again), stderr(&again)),
        (String::new(), "1 result left out: in the history already\n".to_owned())
    );
    std::fs::write(bench.path().join("whole.json"), hyperfine.replace("0.001,", "0.002,")).unwrap();
    assert_eq!(stdout(&import()), told);
    let text = stdout(&bench.run(&["history"]));
    assert!(text.contains("true · mean, s (hyperfine) · 2 runs, 0 changes") && text.contains("a1b2c3"), "{text}");
    assert!(bench.run(&["history", "--html", "history.html"]).status.success());
    let page = std::fs::read_to_string(bench.path().join("history.html")).unwrap();
    assert!(page.contains("<svg"));
    let printed = bench.run(&["history", "--html", "-"]);
    assert_eq!((stdout(&printed), bench.path().join("-").exists()), (page, false), "{}", stderr(&printed));
}

#[test]
fn an_import_says_what_it_leaves_out_and_names_a_benchmark_from_within_its_folder() {
    let bench = Bench::new();
    let score = |name: &str, score: &str| {
        format!(
            r#"{{"benchmark": "{name}", "mode": "avgt", "primaryMetric": {{"score": {score}, "scoreUnit": "ns/op"}}}}"#
        )
    };
    let jmh = format!("[{}, {}]", score("a.B.c", "\"NaN\""), score("a.B.d", "5.0"));
    std::fs::write(bench.path().join("jmh.json"), jmh).unwrap();
    let output = bench.run(&["history", "import", "jmh.json"]);
    assert!(stdout(&output).contains("jmh.json: 1 figure of jmh"), "{}", stderr(&output));
    assert!(stderr(&output).contains("jmh.json: left out: a.B.c"), "{}", stderr(&output));

    let folder = bench.path().join("target/criterion/parse/new");
    std::fs::create_dir_all(&folder).unwrap();
    let estimate = r#"{"confidence_interval": {"lower_bound": 9.5, "upper_bound": 10.5}, "point_estimate": 10.0}"#;
    let estimates = format!(r#"{{"mean": {estimate}, "std_dev": {estimate}}}"#);
    std::fs::write(folder.join("estimates.json"), estimates).unwrap();
    let dir = bench.path().join(".tare");
    let mut tare = bench.tare(&["history", "import", "estimates.json", "--dir", dir.to_str().unwrap()]);
    let output = tare.current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&bench.run(&["history"])).contains("parse · mean, ns (criterion)"));
}

#[test]
fn a_load_of_tare_and_a_folder_of_criterion_join_the_history_at_the_time_that_is_stated() {
    let bench = Bench::new();
    let reference = Reference::start(&[]);
    let url = reference.url("/path0/4");
    let output = bench.run(&["load", &url, "-n", "40", "-c", "2", "--quiet", "--json", "load.json", "--db", "load.db"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for file in ["load.json", "load.db"] {
        let output = bench.run(&["history", "import", file]);
        assert!(stdout(&output).contains("figures of tare"), "{}", all_of(&output));
    }
    let lines = json(&stdout(&bench.run(&["history", "--json"])));
    let line = &lines["lines"][0];
    assert_eq!(
        (line["name"].as_str(), line["points"].as_array().unwrap().len()),
        (Some(format!("{url}, closed loop, 2 users until 40 requests").as_str()), 2),
        "{lines:#}"
    );
    assert_eq!(line["points"][0]["value"], line["points"][1]["value"], "the JSON and the record are one load");

    let estimate = r#"{"point_estimate": 5.0, "confidence_interval": {"lower_bound": 4.0, "upper_bound": 6.0}}"#;
    for measurement in ["new", "base", "change"] {
        let folder = bench.path().join("target/criterion/parse/uri").join(measurement);
        std::fs::create_dir_all(&folder).unwrap();
        let estimates = format!(r#"{{"mean": {estimate}, "median": {estimate}, "std_dev": {estimate}}}"#);
        std::fs::write(folder.join("estimates.json"), estimates).unwrap();
    }
    let output = bench.run(&["history", "import", "target/criterion", "--at", "2020-01-02T01:00:00+01:00"]);
    assert!(stdout(&output).contains("new/estimates.json: 2 figures of criterion"), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 1, "neither base nor change");
    let lines = json(&stdout(&bench.run(&["history", "--json"])));
    let lines = lines["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["name"] == "parse/uri").unwrap();
    assert_eq!(line["points"][0]["at"], "2020-01-02T00:00:00Z");
    std::fs::write(bench.path().join("load.json.gz"), [0x1f, 0x8b, 8, 0]).unwrap();
    for (file, what) in
        [("-", "not from standard input; write"), ("load.json.gz", "unpack it first: gunzip --keep load.json.gz")]
    {
        let said = error_of(&bench, &["history", "import", file]);
        assert!(said.contains(what), "{said}");
    }
    let said = error_of(&bench, &["report", "load.json"]);
    assert!(said.contains("a file of `tare load --db`") && said.contains("`tare history import` reads JSON"), "{said}");
    let said = error_of(&bench, &["history", "import", "load.json", "--at", "yesterday"]);
    assert!(said.contains("give a date or a time, such as 2026-11-20"), "{said}");
    std::fs::rename(bench.path().join("target/criterion"), bench.path().join("results-main")).unwrap();
    assert!(bench.run(&["history", "import", "results-main"]).status.success());
    let lines = json(&stdout(&bench.run(&["history", "--json"])));
    let of_copy = lines["lines"].as_array().unwrap().iter().find(|line| line["name"] == "parse/uri").unwrap();
    assert_eq!(of_copy["points"].as_array().unwrap().len(), 2, "a copy of the folder names its benchmarks alike");
    let said = error_of(&bench, &["history", "import", "results-main/parse/uri/base"]);
    assert!(said.contains("is a folder without results of criterion"), "{said}");
}
