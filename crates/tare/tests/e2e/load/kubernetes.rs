//! Agents in pods from the outside: a fake kubectl starts them here, and answers as a cluster would.

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::common::{
    Bench, Reference, TARE, all_of, json as read_json, signal, stderr, stdout, wait_for, write_program,
};

/// Notes each call in `log`. Its answers are files of its folder; an attached pod is an agent on this machine.
const KUBECTL: &str = r#"#!/bin/sh
cd FOLDER
echo "$@" >> log
while :; do case $1 in --context=*|--namespace=*) shift ;; *) break ;; esac; done
[ ! -f "refuse-$1" ] || { cat "refuse-$1" >&2; exit 1; }
[ ! -f "refuse-$(echo "$2" | tr / -)" ] || { cat "refuse-$(echo "$2" | tr / -)" >&2; exit 1; }
[ ! -f "hang-$1" ] || { echo $$ > hangs; exec sleep 1000; }
case "$1 $2" in
  create*) cat > job.json; cp job.json manifest.json ;;
  "get pods") cat pods.json ;;
  "get events") cat events.json ;;
  "get jobs") cat jobs.json ;;
  "get job/"*) cat applied.json ;;
  "get pod/"*) cat "${2#pod/}.json" ;;
  attach*) for pod; do :; done; echo $$ > "${pod#pod/}.pid"; exec TARE agent ;;
  delete*) rm -f job.json ;;
esac
"#;

/// A fake cluster.
struct FakeCluster {
    bench: Bench,
    folder: PathBuf,
}

impl FakeCluster {
    fn new(pods: &[Value]) -> Self {
        let bench = Bench::new();
        let folder = bench.path().join("cluster");
        fs::create_dir(&folder).unwrap();
        let script = KUBECTL.replace("FOLDER", &folder.display().to_string()).replace("TARE", TARE);
        write_program(&folder.join("kubectl"), &script);
        let cluster = Self { bench, folder };
        cluster.says("pods.json", &json!({ "items": pods }));
        cluster.says("events.json", &json!({ "items": [] }));
        cluster
    }

    fn says(&self, file: &str, value: &Value) {
        fs::write(self.folder.join(file), value.to_string()).unwrap();
    }

    fn tare(&self, args: &[&str]) -> Command {
        let mut command = self.bench.tare(args);
        command.env("PATH", format!("{}:{}", self.folder.display(), std::env::var("PATH").unwrap()));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.tare(args).output().unwrap()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn manifest(&self) -> Value {
        read_json(&fs::read_to_string(self.folder.join("manifest.json")).unwrap())
    }

    fn assert_nothing_left(&self) {
        assert!(!self.folder.join("job.json").exists(), "the job is still there: {}", self.log());
        self.bench.assert_nothing_left();
    }
}

fn pod(index: usize, node: &str, status: &Value) -> Value {
    let annotations = json!({ "batch.kubernetes.io/job-completion-index": index.to_string() });
    json!({
        "metadata": { "name": format!("pod-{index}"), "annotations": annotations },
        "spec": { "nodeName": node },
        "status": status,
    })
}

fn runs() -> Value {
    json!({ "phase": "Running", "containerStatuses": [{ "state": { "running": {} } }] })
}

fn unschedulable() -> Value {
    json!({ "phase": "Pending", "conditions": [{ "type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient cpu." }] })
}

fn without_image() -> Value {
    json!({ "phase": "Pending", "containerStatuses": [{ "state": { "waiting": {
        "reason": "ImagePullBackOff", "message": "Back-off pulling image \"tare:x\"" } } }] })
}

/// The names of the agents of a summary, and what each has answered.
fn agents(summary: &Value) -> Vec<(&str, u64)> {
    let agents = summary["agents"].as_array().unwrap().iter();
    agents.map(|agent| (agent["name"].as_str().unwrap(), agent["ok"].as_u64().unwrap())).collect()
}

#[test]
fn pods_make_one_load_and_leave_no_job() {
    let server = Reference::start(&[]);
    let cluster = FakeCluster::new(&[pod(2, "a", &runs()), pod(0, "a", &runs()), pod(1, "b", &runs())]);
    let url = server.url("/path0/4");
    let load = ["load", &url, "-n", "1000", "-c", "7", "--agents", "k8s:3", "--json", "-"];
    let output = cluster.run(&[&load[..], &["--k8s-namespace", "lab", "--k8s-image", "tare:test"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = read_json(&stdout(&output));
    assert_eq!(agents(&summary), [("k8s:a 1", 334), ("k8s:b", 333), ("k8s:a 2", 333)]);
    assert_eq!(summary["response"]["count"], 1000);
    let manifest = cluster.manifest();
    let container = &manifest["spec"]["template"]["spec"]["containers"][0];
    assert_eq!((&manifest["spec"]["completions"], &container["image"]), (&3.into(), &"tare:test".into()));
    let log = cluster.log();
    assert!(log.lines().all(|line| line.starts_with("--namespace=lab ")), "{log}");
    let job = manifest["metadata"]["name"].as_str().unwrap();
    assert!(log.contains(&format!("delete job/{job} --cascade=background")), "{log}");
    cluster.assert_nothing_left();
}

#[test]
fn pods_and_processes_make_one_load_together() {
    let server = Reference::start(&[]);
    let cluster = FakeCluster::new(&[pod(0, "a", &runs())]);
    cluster.says("applied.json", &json!({ "spec": { "parallelism": 1 } }));
    let url = server.url("/path0/4");
    let output =
        cluster.run(&["load", &url, "-n", "100", "-c", "2", "--agents", "local:1,k8s:job/mine", "--json", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(agents(&read_json(&stdout(&output))), [("local", 50), ("k8s:a", 50)]);
    assert!(!cluster.log().contains("delete"), "a job that somebody applied is not removed: {}", cluster.log());
    cluster.assert_nothing_left();
}

#[test]
fn pods_that_cannot_run_are_one_error_and_leave_nothing() {
    let quota = json!({ "items": [{ "reason": "FailedCreate",
        "message": "Error creating: pods \"x\" is forbidden: exceeded quota: small, requested: cpu=2" }] });
    let none = json!({ "items": [] });
    for (pods, events, says) in [
        (vec![pod(0, "", &unschedulable())], &none, "0 of 1 pods run: Unschedulable: 0/2 nodes are available"),
        (vec![pod(0, "a", &without_image())], &none, "name an image that the nodes can pull (--k8s-image)"),
        (Vec::new(), &quota, "exceeded quota: small, requested: cpu=2; use fewer agents or smaller pods"),
    ] {
        let cluster = FakeCluster::new(&pods);
        cluster.says("events.json", events);
        let output = cluster.run(&["load", "http://10.0.0.1/", "--agents", "k8s:1", "--agents-wait", "1s"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains("error: agent k8s:1: ") && text.contains(says), "{says}: {text}");
        assert_eq!(text.matches("error").count(), 1, "{text}");
        cluster.assert_nothing_left();
    }
}

#[test]
fn a_cluster_that_refuses_the_job_is_one_error_with_its_remedy() {
    for (refusal, says) in [
        (
            "Error from server (Forbidden): error when creating \"STDIN\": jobs.batch is forbidden: User \"ada\" cannot create resource \"jobs\" in API group \"batch\" in the namespace \"lab\"",
            "ask for the role that `tare agents manifest` prints",
        ),
        ("The connection to the server localhost:8080 was refused", "check that this works: kubectl get pods"),
    ] {
        let cluster = FakeCluster::new(&[]);
        fs::write(cluster.folder.join("refuse-create"), refusal).unwrap();
        let output = cluster.run(&["load", "http://10.0.0.1/", "--agents", "k8s:2"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(refusal) && stderr(&output).contains(says), "{}", stderr(&output));
        cluster.assert_nothing_left();
    }
}

#[test]
fn two_deployments_are_compared_from_pods() {
    let (old, new) = (Reference::start(&[]), Reference::start(&["--spin-percent", "30"]));
    let cluster = FakeCluster::new(&[pod(0, "a", &runs()), pod(1, "b", &runs())]);
    let contract = "schema = 1\n[scenarios.Get]\ntitle = \"GET\"\nrequest = { path = \"/path0/4\" }\n\
                    expect = { status = 200, body = \"4\" }\n";
    fs::write(cluster.bench.path().join("own.toml"), contract).unwrap();
    let (old, new) = (format!("old={}", old.url("")), format!("new={}", new.url("")));
    let servers = ["run", "--external", &old, "--external", &new, "--baseline", "old", "--contract", "own.toml"];
    let load = [
        "--agents",
        "k8s:2",
        "--forks",
        "2",
        "--users",
        "8",
        "--warmup",
        "200ms",
        "--slice",
        "100ms",
        "--discard",
        "20ms",
    ];
    let output = cluster.run(&[&servers[..], &load, &["--saturating", "3", "--latency", "200ms"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", all_of(&output));
    let summary = cluster.bench.summary();
    let environment = summary["environment"].to_string();
    assert!(environment.contains("k8s:a, k8s:b"), "{environment}");
    assert_eq!(summary["comparisons"][0]["variant"], "new");
    cluster.assert_nothing_left();
}

/// Starts a load of a minute by two pods, and waits until its record has answers.
fn long_load(cluster: &FakeCluster, server: &Reference) -> std::process::Child {
    let url = server.url("/path0/4");
    let mut command = cluster.tare(&["load", &url, "-d", "60s", "-c", "2", "--agents", "k8s:2", "--db", "a.sqlite"]);
    let load = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(wait_for(|| cluster.bench.has_answers("a.sqlite")));
    load
}

#[test]
fn an_evicted_pod_is_a_lost_agent_and_ctrl_c_removes_the_job() {
    let server = Reference::start(&[]);
    let cluster = FakeCluster::new(&[pod(0, "a", &runs()), pod(1, "b", &runs())]);
    let evicted = json!({ "phase": "Failed", "conditions": [
        { "type": "DisruptionTarget", "status": "True", "message": "Eviction API: evicting" }] });
    cluster.says("pod-1.json", &pod(1, "b", &evicted));
    let load = long_load(&cluster, &server);
    signal("-KILL", fs::read_to_string(cluster.folder.join("pod-1.pid")).unwrap().trim());
    assert!(wait_for(|| cluster.log().contains("get pod/pod-1")));
    signal("-INT", load.id());
    let output = load.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let summary = read_json(&stdout(&cluster.run(&["report", "a.sqlite", "--json"])));
    assert_eq!(summary["agents"][1]["lost"], "the cluster took the pod from b: Eviction API: evicting");
    assert_eq!(summary["agents"][0]["lost"], Value::Null);
    assert!(stdout(&output).contains("SUSPECT"), "{}", stdout(&output));
    cluster.assert_nothing_left();
}

#[test]
fn ctrl_c_while_pods_start_removes_the_job() {
    let cluster = FakeCluster::new(&[pod(0, "", &unschedulable())]);
    let mut command = cluster.tare(&["load", "http://10.0.0.1/", "--agents", "k8s:1"]);
    let load = command.stderr(Stdio::piped()).spawn().unwrap();
    assert!(wait_for(|| cluster.log().contains("get pods")));
    signal("-INT", load.id());
    let output = load.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted before the load began"), "{}", stderr(&output));
    cluster.assert_nothing_left();
}

/// A cluster with one pod that lets nobody delete a job.
fn locked_cluster(pod: Value) -> FakeCluster {
    let cluster = FakeCluster::new(&[pod]);
    fs::write(cluster.folder.join("refuse-delete"), "Error from server (Forbidden): jobs are locked").unwrap();
    cluster
}

/// Whether the end of a load names the job that it had to leave.
fn names_left_job(output: &Output) -> bool {
    stderr(output).contains("is still there: Error from server (Forbidden): jobs are locked; tare agents clean")
}

#[test]
fn a_job_that_may_not_be_removed_after_ctrl_c_is_named() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    silent.set_nonblocking(true).unwrap();
    // The server says nothing to an agent that opens its connection, and closes it at the end of the test.
    let is_opening = |mut stream: &TcpStream| stream.read(&mut [0]).is_ok_and(|bytes| bytes > 0);
    let mut opening = None;
    let url = format!("https://{}/", silent.local_addr().unwrap());
    for (pod, url) in [(pod(0, "", &unschedulable()), "http://10.0.0.1/"), (pod(0, "a", &runs()), url.as_str())] {
        let cluster = locked_cluster(pod);
        let mut command = cluster.tare(&["load", url, "-k", "-c", "1", "--agents", "k8s:1"]);
        let load = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        assert!(wait_for(|| {
            if url.starts_with("http:") {
                return cluster.log().contains("get pods");
            }
            opening = silent.accept().ok().map(|(stream, _)| stream).filter(is_opening);
            opening.is_some()
        }));
        signal("-INT", load.id());
        let output = load.wait_with_output().unwrap();
        assert!(names_left_job(&output), "{url}: {}", stderr(&output));
        cluster.bench.assert_nothing_left();
    }
}

#[test]
fn a_job_that_may_not_be_removed_is_named_where_the_load_does_not_begin() {
    // The first agent ends before it is greeted, and the second one finds no server.
    for (refuses, says) in [(Some("refuse-attach"), "agent k8s:a: "), (None, "nothing listens on 127.0.0.1:1")] {
        let cluster = locked_cluster(pod(0, "a", &runs()));
        refuses.into_iter().for_each(|file| fs::write(cluster.folder.join(file), "no").unwrap());
        let output = cluster.run(&["load", "http://127.0.0.1:1/", "-c", "1", "--agents", "k8s:1"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(says) && names_left_job(&output), "{says}: {}", stderr(&output));
        cluster.bench.assert_nothing_left();
    }
}

#[test]
fn jobs_of_a_dead_coordinator_are_found_and_removed() {
    let cluster = FakeCluster::new(&[]);
    cluster.says("jobs.json", &json!({ "items": [{ "metadata": { "name": "tare-1" } }] }));
    let output = cluster.run(&["agents", "clean", "--k8s-context", "lab"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "removed job tare-1 and its pods\n"));
    let log = cluster.log();
    assert!(log.contains("--context=lab get jobs --selector=app.kubernetes.io/managed-by=tare,tare/host="), "{log}");
    assert!(log.contains("delete job/tare-1 --cascade=background"), "{log}");
    assert_eq!(cluster.run(&["agents", "clean", "--all"]).status.code(), Some(0));
    assert!(
        cluster.log().contains("get jobs --selector=app.kubernetes.io/managed-by=tare -o json"),
        "{}",
        cluster.log()
    );
}

#[test]
fn jobs_after_one_that_may_not_be_removed_are_removed_and_named() {
    let cluster = FakeCluster::new(&[]);
    let job = |name: &str| json!({ "metadata": { "name": name } });
    cluster.says("jobs.json", &json!({ "items": [job("tare-1"), job("tare-2"), job("tare-3")] }));
    fs::write(cluster.folder.join("refuse-job-tare-2"), "Error from server (Forbidden): jobs \"tare-2\" is locked")
        .unwrap();
    let output = cluster.run(&["agents", "clean"]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(1), "removed job tare-1 and its pods\nremoved job tare-3 and its pods\n")
    );
    let errors = stderr(&output);
    assert!(errors.contains("job tare-2 is still there: Error from server (Forbidden)"), "{errors}");
}

#[test]
fn ctrl_c_ends_a_kubectl_that_hangs() {
    for is_locked in [false, true] {
        let cluster = if is_locked { locked_cluster(json!({})) } else { FakeCluster::new(&[]) };
        fs::write(cluster.folder.join("hang-create"), "").unwrap();
        let mut load = cluster.tare(&["load", "http://10.0.0.1/", "--agents", "k8s:1"]);
        let load = load.stderr(Stdio::piped()).spawn().unwrap();
        assert!(wait_for(|| cluster.folder.join("hangs").exists()));
        signal("-INT", load.id());
        let output = load.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        let says_left =
            "may still be there: Error from server (Forbidden): jobs are locked; tare agents clean removes it";
        assert_eq!(stderr(&output).contains(says_left), is_locked, "{}", stderr(&output));
        cluster.assert_nothing_left();
    }
}

#[test]
fn manifests_can_be_printed_to_be_applied_by_hand() {
    let output = Bench::new().run(&["agents", "manifest", "8", "--name", "mine", "--within", "10m", "--k8s-cpus", "4"]);
    let list = read_json(&stdout(&output));
    let [role, job] = [&list["items"][0], &list["items"][1]];
    assert_eq!(
        (&role["kind"], &job["kind"], &job["metadata"]["name"]),
        (&"Role".into(), &"Job".into(), &"mine".into())
    );
    assert_eq!(job["spec"]["completions"], 8);
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        (&container["resources"]["limits"]["cpu"], &container["args"][1]),
        (&"4".into(), &"--first-order-within=600s".into())
    );
}
