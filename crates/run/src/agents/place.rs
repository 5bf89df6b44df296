//! Where agents run, as users write it: `local:4`, `ssh://user@host:22`.

use std::fmt;
use std::str::FromStr;

/// The most agents on this machine.
const MOST_LOCAL: usize = 1024;

/// Where agents run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentPlace {
    /// Several on this machine.
    Local {
        /// How many.
        agents: usize,
    },
    /// One on another machine, by ssh.
    Ssh {
        /// `host` or `user@host`, as ssh takes it: also a name of ssh's configuration.
        destination: String,
        /// The port; `None` for ssh's own choice.
        port: Option<u16>,
    },
}

impl AgentPlace {
    /// A name for each agent of these places, in order.
    pub fn agent_names(places: &[Self]) -> Vec<String> {
        let mut names = Vec::new();
        for place in places {
            match place {
                Self::Local { agents } => names.extend((0..*agents).map(|_| "local".to_owned())),
                Self::Ssh { .. } => names.push(place.to_string()),
            }
        }
        // Agents of one place are told apart by a number.
        let of_name = |name: &String| names.iter().filter(|other| *other == name).count();
        let number = |index: usize| names[..=index].iter().filter(|other| **other == names[index]).count();
        let numbered = |(index, name): (usize, &String)| match of_name(name) {
            1 => name.clone(),
            _ => format!("{name} {}", number(index)),
        };
        names.iter().enumerate().map(numbered).collect()
    }
}

impl fmt::Display for AgentPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local { agents } => write!(f, "local:{agents}"),
            Self::Ssh { destination, port: None } => write!(f, "ssh://{destination}"),
            Self::Ssh { destination, port: Some(port) } => write!(f, "ssh://{destination}:{port}"),
        }
    }
}

impl FromStr for AgentPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            |why: &str| format!("\"{text}\" is no place for agents: {why}; write local:4 or ssh://user@host:22");
        if let Some(count) = text.strip_prefix("local:") {
            let agents = count.parse().ok().filter(|agents| (1..=MOST_LOCAL).contains(agents));
            let agents = agents.ok_or_else(|| wrong("give a number of agents from 1 to 1024"))?;
            return Ok(Self::Local { agents });
        }
        let rest = text.strip_prefix("ssh://").ok_or_else(|| wrong("it begins with neither local: nor ssh://"))?;
        let rest = rest.trim_end_matches('/');
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
            "k8s:3",
        ] {
            let why = text.parse::<AgentPlace>().unwrap_err();
            assert!(why.contains("write local:4 or ssh://user@host:22") && why.contains(text), "{why}");
        }
    }

    #[test]
    fn agents_of_one_place_are_numbered() {
        let places = ["local:2", "ssh://a", "ssh://b", "ssh://b"].map(|text| text.parse().unwrap());
        assert_eq!(AgentPlace::agent_names(&places), ["local 1", "local 2", "ssh://a", "ssh://b 1", "ssh://b 2"]);
    }
}
