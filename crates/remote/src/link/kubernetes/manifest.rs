//! The manifests for a cluster: the Job of the agents, and the role of the user who may run them.

use std::time::Duration;

use clap::{Args, value_parser};
use serde_json::{Value, json};
use tare_sys::procfs::machine::host_name;

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
pub(super) const TARE_SELECTOR: &str = "app.kubernetes.io/managed-by=tare";
/// The label with the machine of the coordinator.
pub(super) const HOST_LABEL: &str = "tare/host";
/// The label with the process of the coordinator there.
pub(super) const PROCESS_LABEL: &str = "tare/process";
const LONGEST_LABEL: usize = 63;
/// The label of the job and the pods of one load.
const RUN_LABEL: &str = "tare/run";
pub(super) const CONTAINER: &str = "agent";
/// A job that is over is removed after this time if its coordinator could not do that, in seconds.
const KEPT_S: u32 = 60;

/// The pod of an agent. Cores and memory are requested, and are also the limits.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct PodShape {
    /// Container image of the agents; scripts/image makes one.
    #[arg(long = "k8s-image", default_value_t = PodShape::default().image, value_name = "IMAGE",
          hide_short_help = true)]
    pub image: String,
    /// Whole cores of each pod. If it has several, one is left to the kernel and to the rest of the pod.
    #[arg(long = "k8s-cpus", default_value_t = PodShape::default().cpus, value_name = "N",
          value_parser = value_parser!(u32).range(1..=1024), hide_short_help = true)]
    pub cpus: u32,
    /// Memory of each pod.
    #[arg(long = "k8s-memory", default_value_t = PodShape::default().memory, value_name = "BYTES",
          hide_short_help = true)]
    pub memory: String,
}

impl Default for PodShape {
    /// With the image that scripts/image makes.
    fn default() -> Self {
        Self { image: concat!("tare:", env!("CARGO_PKG_VERSION")).to_owned(), cpus: 2, memory: "512Mi".to_owned() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobShape {
    pub name: String,
    /// The machine of its coordinator, which is this process; empty where that is not known.
    pub host: String,
    pub agents: usize,
    pub pod: PodShape,
    /// A pod that gets no order for this long ends.
    pub first_order_within: Duration,
    /// The job and its pods end after this time in any case.
    pub ends_within: Duration,
}

impl JobShape {
    /// The Job. It meets the Pod Security Standard "restricted". A pod that fails is not replaced and takes no other pod
    /// with it: `backoffLimit: 0` would end all of them, so each index has a limit of its own.
    pub(super) fn to_manifest(&self) -> Value {
        let mut labels = json!({ MANAGED_BY: "tare", RUN_LABEL: self.name });
        if !self.host.is_empty() {
            labels[HOST_LABEL] = self.host.clone().into();
            labels[PROCESS_LABEL] = std::process::id().to_string().into();
        }
        json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": { "name": self.name, "labels": labels },
            "spec": {
                "completionMode": "Indexed",
                "completions": self.agents,
                "parallelism": self.agents,
                "backoffLimitPerIndex": 0,
                "activeDeadlineSeconds": self.ends_within.as_secs().max(1),
                "ttlSecondsAfterFinished": KEPT_S,
                "template": { "metadata": { "labels": labels }, "spec": self.pod_spec() },
            },
        })
    }

    /// An agent ends with its standard input, so a pod needs no time to end: SIGTERM does nothing to a first process.
    fn pod_spec(&self) -> Value {
        json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "terminationGracePeriodSeconds": 1,
            "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
            "topologySpreadConstraints": [{
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": { "matchLabels": { RUN_LABEL: self.name } },
            }],
            "containers": [self.container()],
        })
    }

    fn container(&self) -> Value {
        let room = json!({ "cpu": self.pod.cpus.to_string(), "memory": self.pod.memory });
        json!({
            "name": CONTAINER,
            "image": self.pod.image,
            "args": ["agent", format!("--first-order-within={}s", self.first_order_within.as_secs().max(1))],
            "stdin": true,
            "stdinOnce": true,
            "resources": { "requests": room, "limits": room },
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] },
            },
        })
    }
}

/// The name of this machine, as far as a label can hold it; empty if it has none.
pub(crate) fn host_label() -> String {
    label_value(&host_name())
}

fn label_value(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).take(LONGEST_LABEL);
    kept.collect::<String>().trim_matches(['-', '_', '.']).to_owned()
}

/// The rights that a coordinator needs in a namespace, and no more. A newer kubectl attaches by GET, an older one by POST.
fn coordinator_role() -> Value {
    let rule = |group: &str, resource: &str, verbs: &[&str]| json!({ "apiGroups": [group], "resources": [resource], "verbs": verbs });
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": { "name": "tare", "labels": { MANAGED_BY: "tare" } },
        "rules": [
            rule("batch", "jobs", &["create", "get", "list", "delete"]),
            rule("", "pods", &["get", "list"]),
            rule("", "pods/attach", &["create", "get"]),
            rule("", "events", &["list"]),
        ],
    })
}

pub fn agent_manifests(job: &JobShape) -> String {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [coordinator_role(), job.to_manifest()] });
    format!("{list:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> JobShape {
        let pod = PodShape { image: "tare:0.1.0".to_owned(), cpus: 2, memory: "512Mi".to_owned() };
        let (first_order_within, ends_within) = (Duration::from_secs(180), Duration::from_secs(600));
        JobShape { name: "tare-x".to_owned(), host: "desk".to_owned(), agents: 8, pod, first_order_within, ends_within }
    }

    #[test]
    fn the_job_has_a_pod_for_each_agent_and_an_end() {
        let spec = &job().to_manifest()["spec"];
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&8.into(), &8.into()));
        assert_eq!((&spec["completionMode"], &spec["backoffLimitPerIndex"]), (&"Indexed".into(), &0.into()));
        assert_eq!((&spec["activeDeadlineSeconds"], &spec["ttlSecondsAfterFinished"]), (&600.into(), &60.into()));
        assert!(spec.get("backoffLimit").is_none(), "it would end all pods with the first that fails");
        let container = &spec["template"]["spec"]["containers"][0];
        assert_eq!((&container["stdin"], &container["stdinOnce"]), (&true.into(), &true.into()));
        assert!(container.get("tty").is_none(), "a terminal would change the bytes of the protocol");
    }

    #[test]
    fn pods_have_whole_cores_and_meet_the_restricted_standard() {
        let manifest = job().to_manifest();
        let pod = &manifest["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
        assert_eq!(container["resources"]["limits"], json!({ "cpu": "2", "memory": "512Mi" }));
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        assert_eq!(container["securityContext"]["allowPrivilegeEscalation"], false);
        assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]["tare/run"], "tare-x");
    }

    #[test]
    fn the_job_names_the_machine_of_its_coordinator() {
        let labels =
            |host: &str| JobShape { host: host.to_owned(), ..job() }.to_manifest()["metadata"]["labels"].clone();
        assert_eq!(labels("desk")["tare/host"], "desk");
        assert_eq!(labels("desk")["tare/process"], std::process::id().to_string());
        assert!(labels("").get("tare/host").is_none() && labels("").get("tare/process").is_none());
        assert_eq!(label_value("-my host.local.\n"), "myhost.local");
        assert_eq!(label_value(&"x".repeat(80)).len(), 63);
        assert_eq!(label_value("é-\n"), "");
    }

    #[test]
    fn the_manifests_are_a_role_and_the_job() {
        let text = agent_manifests(&job());
        let list: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&list["kind"], &list["items"][0]["kind"], &list["items"][1]["kind"]),
            (&"List".into(), &"Role".into(), &"Job".into())
        );
        assert_eq!(list["items"][1]["metadata"]["labels"]["app.kubernetes.io/managed-by"], "tare");
        assert!(text.contains("\"pods/attach\""), "{text}");
        for right in ["pods/exec", "secrets", "\"*\""] {
            assert!(!text.contains(right), "{right}: {text}");
        }
    }
}
