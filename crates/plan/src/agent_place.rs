//! Where agents run, as users write it: `local:4`, `ssh://user@host:22`, `k8s:8`.

use std::fmt;
use std::str::FromStr;

const MOST_AGENTS: usize = 1024;

/// The error for a machine with a password. It does not repeat the password.
pub const PASSWORD_ERROR: &str = "this machine has a password, and ssh takes none from here; write ssh://user@host:22, and let ssh \
                                  use a key (ssh-copy-id)";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentPlace {
    /// Several processes of this machine.
    Local { agents: usize },
    /// One on another machine, by ssh: `host` or `user@host` as ssh takes it, and the port; `None` for ssh's own
    /// choice.
    Ssh { destination: String, port: Option<u16> },
    /// Several in pods of a Kubernetes cluster, made for one load.
    Pods { agents: usize },
    /// Those of a Kubernetes Job that somebody applied.
    AppliedJob { job: String },
}

impl AgentPlace {
    pub const fn is_in_cluster(&self) -> bool {
        matches!(self, Self::Pods { .. } | Self::AppliedJob { .. })
    }

    /// How many agents it has at least; for a job that somebody applied, the number is not known yet.
    pub const fn least_agents(&self) -> usize {
        match self {
            Self::Local { agents } | Self::Pods { agents } => *agents,
            Self::Ssh { .. } | Self::AppliedJob { .. } => 1,
        }
    }
}

pub fn are_elsewhere(places: &[AgentPlace]) -> bool {
    places.iter().any(|place| !matches!(place, AgentPlace::Local { .. }))
}

impl fmt::Display for AgentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local { agents } => write!(f, "local:{agents}"),
            Self::Ssh { destination, port: None } => write!(f, "ssh://{destination}"),
            Self::Ssh { destination, port: Some(port) } => write!(f, "ssh://{destination}:{port}"),
            Self::Pods { agents } => write!(f, "k8s:{agents}"),
            Self::AppliedJob { job } => write!(f, "k8s:job/{job}"),
        }
    }
}

impl FromStr for AgentPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            |why: &str| format!("\"{text}\" is no place for agents: {why}; write local:4, ssh://user@host:22 or k8s:8");
        let count = |text: &str| {
            let agents = text.parse::<usize>().ok().filter(|agents| (1..=MOST_AGENTS).contains(agents));
            agents.ok_or_else(|| wrong("give a number of agents from 1 to 1024"))
        };
        if let Some(agents) = text.strip_prefix("local:") {
            return Ok(Self::Local { agents: count(agents)? });
        }
        if let Some(job) = text.strip_prefix("k8s:job/") {
            let is_name = !job.is_empty() && job.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c));
            let named = || Self::AppliedJob { job: job.to_owned() };
            return is_name.then(named).ok_or_else(|| wrong("the job has no name"));
        }
        if let Some(agents) = text.strip_prefix("k8s:") {
            return Ok(Self::Pods { agents: count(agents)? });
        }
        let rest =
            text.strip_prefix("ssh://").ok_or_else(|| wrong("it begins with none of local:, ssh:// and k8s:"))?;
        let rest = rest.trim_end_matches('/');
        if rest.rsplit_once('@').is_some_and(|(user, _)| user.contains(':')) {
            return Err(PASSWORD_ERROR.to_owned());
        }
        let (destination, port) =
            match rest.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']')) {
                None => (rest, None),
                Some((host, port)) => {
                    let port = port.parse().ok().filter(|port| *port > 0);
                    (host, Some(port.ok_or_else(|| wrong("the port is not a number from 1 to 65535"))?))
                }
            };
        // ssh would take a name that begins with a dash for an option.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@:%".contains(c);
        let name = destination.replace(['[', ']'], "");
        let host = name.rsplit('@').next().unwrap_or_default();
        if host.is_empty() || name.starts_with('-') || host.starts_with('-') || !name.chars().all(is_plain) {
            return Err(wrong("it has no host that ssh could take"));
        }
        Ok(Self::Ssh { destination: name, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(destination: &str, port: Option<u16>) -> AgentPlace {
        AgentPlace::Ssh { destination: destination.to_owned(), port }
    }

    #[test]
    fn places_are_read() {
        for (text, place) in [
            ("local:4", AgentPlace::Local { agents: 4 }),
            ("ssh://bench1", ssh("bench1", None)),
            ("ssh://ada@10.0.0.7:2222", ssh("ada@10.0.0.7", Some(2222))),
            ("ssh://[::1]:2222", ssh("::1", Some(2222))),
            ("ssh://ada@bench.example/", ssh("ada@bench.example", None)),
            ("k8s:8", AgentPlace::Pods { agents: 8 }),
            ("k8s:job/my-agents", AgentPlace::AppliedJob { job: "my-agents".to_owned() }),
        ] {
            assert_eq!(text.parse(), Ok(place), "{text}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused_with_the_right_form() {
        for text in [
            "local",
            "local:0",
            "local:x",
            "local:9999",
            "bench1",
            "ssh://",
            "ssh://-oProxyCommand=x",
            "ssh://a b",
            "ssh://a@-b",
            "ssh://a:0",
            "ssh://a:99999",
            "ssh://a;b",
            "ssh://$(x)",
            "k8s:0",
            "k8s:x",
            "k8s:job/",
            "k8s:job/a b",
        ] {
            let why = text.parse::<AgentPlace>().unwrap_err();
            assert!(why.contains("write local:4, ssh://user@host:22 or k8s:8") && why.contains(text), "{why}");
        }
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        for text in
            ["ssh://ada:S3CRET@bench1", "ssh://ada:S3CRET@bench1:22", "ssh://ada:S3CRET@[::1]:22", "ssh://:S3CRET@b/"]
        {
            assert_eq!(text.parse::<AgentPlace>(), Err(PASSWORD_ERROR.to_owned()));
        }
    }
}
