//! Calls of `kubectl`, and what its refusals mean.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use serde_json::Value;
use tare_load::Cancel;
use tare_run::plain_line;
use tare_sys::memory_file::MemoryFile;

use crate::link::command::{CommandError, run_command};

/// For each HTTP request of a call but those of `attach`. It bounds neither a credential plugin nor a DNS lookup.
const HTTP_TIMEOUT: &str = "--request-timeout=20s";
/// How long a call may take that the user waits for: a credential plugin may let the user log in meanwhile.
const USER_LIMIT: Duration = Duration::from_secs(180);
/// The same where tare cleans up.
const TARE_LIMIT: Duration = Duration::from_secs(30);

/// Which cluster, and where in it; `None` for what kubectl's configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct Cluster {
    /// Context of kubectl's configuration [default: the current one].
    #[arg(long = "k8s-context", value_name = "NAME", hide_short_help = true)]
    pub context: Option<String>,
    /// Namespace of the pods [default: that of the context].
    #[arg(long = "k8s-namespace", value_name = "NAME", hide_short_help = true)]
    pub namespace: Option<String>,
}

impl Cluster {
    pub(super) fn kubectl(&self, args: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        command.args(self.context.iter().map(|context| format!("--context={context}")));
        command.args(self.namespace.iter().map(|namespace| format!("--namespace={namespace}")));
        command.args(args);
        command
    }

    /// What kubectl prints. With `cancel` the user waits: kubectl may ask on the terminal, and Ctrl-C ends the call.
    /// Without it tare cleans up, or asks for the cause of a failure, and Ctrl-C does not reach the call.
    pub(super) fn call(&self, args: &[&str], stdin: &str, cancel: Option<&Cancel>) -> Result<String, CommandError> {
        let mut command = self.kubectl(args);
        command.arg(HTTP_TIMEOUT);
        run_call(&mut command, stdin, cancel)
    }

    pub(super) fn call_json(&self, args: &[&str], cancel: Option<&Cancel>) -> Result<Value, CommandError> {
        let text = self.call(&[args, &["-o", "json"]].concat(), "", cancel)?;
        serde_json::from_str(&text).map_err(|error| CommandError::Failed(format!("kubectl prints no JSON: {error}")))
    }
}

fn run_call(command: &mut Command, stdin: &str, cancel: Option<&Cancel>) -> Result<String, CommandError> {
    let (idle_limit, cancel) = match cancel {
        Some(cancel) => (USER_LIMIT, cancel.clone()),
        None => {
            command.process_group(0);
            (TARE_LIMIT, Cancel::default())
        }
    };
    let no_input = |error: io::Error| CommandError::Failed(format!("kubectl gets no input: {error}"));
    let manifest = MemoryFile::new(stdin.as_bytes()).map_err(no_input)?;
    let input = File::open(manifest.path()).map_err(no_input)?;
    let ended = run_command(command, Some(input), idle_limit, "kubectl get pods", &cancel)?;
    if ended.status.success() { Ok(ended.stdout) } else { Err(CommandError::Failed(refusal_text(&ended.stderr))) }
}

/// A refusal of kubectl in one line, with what to do.
fn refusal_text(stderr: &str) -> String {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Warning:"));
    let last = lines.clone().next_back().unwrap_or("kubectl gave no reason");
    let line =
        lines.clone().find(|line| line.starts_with("Error from server") || line.contains("error:")).unwrap_or(last);
    // kubectl's own advice is wrong here: its checks do not fail, the cluster does.
    let line = line.split("; if you choose to ignore these errors").next().unwrap_or(line);
    let line = plain_line(line);
    match remedy_of(stderr) {
        "" => line,
        remedy => format!("{line}; {remedy}"),
    }
}

/// What to do about a refusal of the cluster; empty where it says that itself.
pub(super) fn remedy_of(text: &str) -> &'static str {
    let has = |part: &str| text.contains(part);
    if has("exceeded quota") {
        "use fewer agents or smaller pods (--k8s-cpus, --k8s-memory), or ask for a larger quota"
    } else if has("violates PodSecurity") {
        "this tare's pods meet the level \"restricted\"; does a policy of the cluster change them?"
    } else if has("is forbidden: User") || has("cannot create resource") || has("cannot list resource") {
        "ask for the role that `tare agents manifest` prints"
    } else if has("is forbidden") {
        "change the pods' size (--k8s-cpus, --k8s-memory), or use another namespace (--k8s-namespace)"
    } else if has("namespaces \"") && has("not found") {
        "create the namespace, or name another with --k8s-namespace"
    } else if has("backoffLimitPerIndex") {
        "this cluster is too old: agents in pods need Kubernetes 1.29 or newer"
    } else if NO_CLUSTER.iter().any(|part| has(part)) {
        "check that this works: kubectl get pods (--k8s-context chooses another cluster)"
    } else {
        ""
    }
}

/// What kubectl says where it reaches no cluster, or may not.
const NO_CLUSTER: [&str; 7] = [
    "connection to the server",
    "Unable to connect",
    "failed to download openapi",
    "connection refused",
    "no configuration",
    "does not exist",
    "must be logged in",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_context_and_namespace_before_all_else() {
        let cluster = Cluster { context: Some("lab".to_owned()), namespace: Some("-x".to_owned()) };
        let command = cluster.kubectl(&["get", "pods"]);
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args, ["--context=lab", "--namespace=-x", "get", "pods"]);
        assert_eq!(Cluster::default().kubectl(&["get"]).get_args().count(), 1);
    }

    fn hanging() -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'Open this page to log in' >&2; exec sleep 1000"]);
        command
    }

    #[test]
    fn a_kubectl_that_hangs_is_ended_by_ctrl_c() {
        let cancel = Cancel::default();
        cancel.cancel();
        let end = run_call(&mut hanging(), "", Some(&cancel)).unwrap_err();
        assert!(matches!(end, CommandError::Cancelled), "{end:?}");
    }

    #[test]
    fn a_kubectl_that_may_ask_stays_in_the_process_group_of_the_terminal() {
        let group_of = |cancel: Option<&Cancel>| {
            let mut command = Command::new("sh");
            command.args(["-c", "ps -o pgid= -p $$ || cut -d' ' -f5 /proc/$$/stat"]);
            run_call(&mut command, "", cancel).unwrap().trim().to_owned()
        };
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let own = stat.rsplit(')').next().unwrap().split_whitespace().nth(2).unwrap();
        assert_eq!(group_of(Some(&Cancel::default())), own);
        assert_ne!(group_of(None), own, "Ctrl-C does not reach it");
    }

    #[test]
    fn a_call_gets_its_input() {
        let text = "a".repeat(300_000);
        assert_eq!(run_call(&mut Command::new("cat"), &text, None).unwrap(), text);
    }

    #[test]
    fn a_refusal_is_one_line_with_its_remedy() {
        for (stderr, says) in [
            (
                "Error from server (Forbidden): error when creating \"STDIN\": jobs.batch is forbidden: User \"ada\" cannot create resource \"jobs\"\n",
                "ask for the role that `tare agents manifest` prints",
            ),
            ("Error from server (NotFound): namespaces \"lab\" not found", "create the namespace"),
            ("Unable to connect to the server: dial tcp: lookup x: no such host", "kubectl get pods"),
            (
                "E1123 memcache.go:265] couldn't get current server API group list\nThe connection to the server localhost:8080 was refused - did you specify the right host or port?\n",
                "The connection to the server localhost:8080 was refused",
            ),
            (
                "Error from server (BadRequest): strict decoding error: unknown field \"spec.backoffLimitPerIndex\"",
                "1.29",
            ),
            ("error: context \"x\" does not exist", "--k8s-context"),
            (
                "error: error validating \"STDIN\": error validating data: failed to download openapi: Get \"http://localhost:8080/openapi/v2?timeout=32s\": dial tcp 127.0.0.1:8080: connect: connection refused; if you choose to ignore these errors, turn validation off with --validate=false",
                "connection refused; check that this works: kubectl get pods",
            ),
            ("", "kubectl gave no reason"),
        ] {
            let text = refusal_text(stderr);
            assert!(text.contains(says) && !text.contains('\n') && !text.contains("--validate"), "{text}");
        }
    }
}
