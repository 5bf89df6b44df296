//! Calls of `kubectl`, and what its refusals mean.

use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::error::plain_line;

/// How long a call may take, other than `attach`.
const CALL_TIMEOUT: &str = "--request-timeout=20s";

/// Which cluster, and where in it; `None` for what kubectl's configuration says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The context of kubectl's configuration.
    pub context: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
}

impl Cluster {
    /// A call of kubectl. Ctrl-C does not reach it: what was begun is finished, and what was made is removed.
    pub(super) fn kubectl(&self, args: &[&str]) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new("kubectl");
        command.args(self.context.iter().map(|context| format!("--context={context}")));
        command.args(self.namespace.iter().map(|namespace| format!("--namespace={namespace}")));
        command.args(args).process_group(0);
        command
    }

    /// What kubectl prints.
    ///
    /// # Errors
    /// Why it refuses and what to do, in one sentence.
    pub(super) fn call(&self, args: &[&str], stdin: &str) -> Result<String, String> {
        let mut command = self.kubectl(args);
        command.arg(CALL_TIMEOUT);
        let output = output_of(&mut command, stdin).map_err(|error| cannot_run(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(refusal_text(&String::from_utf8_lossy(&output.stderr)))
    }

    /// What kubectl prints, as JSON.
    pub(super) fn call_json(&self, args: &[&str]) -> Result<Value, String> {
        let text = self.call(&[args, &["-o", "json"]].concat(), "")?;
        serde_json::from_str(&text).map_err(|error| format!("kubectl prints no JSON: {error}"))
    }
}

fn cannot_run(error: &io::Error) -> String {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let remedy = if is_missing { "; install kubectl, the client of Kubernetes" } else { "" };
    format!("cannot run kubectl: {error}{remedy}")
}

fn output_of(command: &mut Command, stdin: &str) -> io::Result<Output> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = piped.spawn()?;
    if let Some(mut pipe) = process.stdin.take() {
        // A kubectl that does not read says why on its standard error.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    process.wait_with_output()
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
        return "use fewer agents or smaller pods (--k8s-cpus, --k8s-memory), or ask for a larger quota";
    }
    if has("violates PodSecurity") {
        return "this tare's pods meet the level \"restricted\"; does a policy of the cluster change them?";
    }
    if has("is forbidden: User") || has("cannot create resource") || has("cannot list resource") {
        return "ask for the role that `tare agents manifest` prints";
    }
    if has("is forbidden") {
        return "change the pods' size (--k8s-cpus, --k8s-memory), or use another namespace (--k8s-namespace)";
    }
    if has("namespaces \"") && has("not found") {
        return "create the namespace, or name another with --k8s-namespace";
    }
    if has("backoffLimitPerIndex") {
        return "this cluster is too old: agents in pods need Kubernetes 1.29 or newer";
    }
    let no_cluster = [
        "connection to the server",
        "Unable to connect",
        "failed to download openapi",
        "connection refused",
        "no configuration",
        "does not exist",
        "must be logged in",
    ];
    if no_cluster.iter().any(|part| has(part)) {
        return "check that this works: kubectl get pods (--k8s-context chooses another cluster)";
    }
    ""
}

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
