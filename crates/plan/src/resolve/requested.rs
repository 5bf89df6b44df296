//! What flags and suite request: which servers are compared with which baseline, in which scenarios.

use tare_units::{distinct, enumerate, grouped_by};

use super::Inputs;
use crate::PlanError;
use crate::contract::Scenarios;
use crate::names::select_names;
use crate::plan::{Mode, Setting, Source};
use crate::suite::GroupSpec;

/// The servers and scenarios in which the names of flags and suite are looked up.
pub(super) struct NameLookup<'a> {
    pub inputs: &'a Inputs<'a>,
    pub servers: Vec<String>,
    pub scenarios: Scenarios,
    pub mode: Mode,
}

impl GroupSpec {
    /// Whether this is the baseline of another group alone, in scenarios that the other group measures too.
    fn is_baseline_of(&self, other: &Self) -> bool {
        let of_other = Self { servers: Vec::new(), scenarios: self.scenarios.clone(), ..other.clone() };
        let mut own = self.scenarios.iter().flatten();
        *self == of_other && own.all(|scenario| other.scenarios.as_ref().is_some_and(|all| all.contains(scenario)))
    }
}

/// What these patterns choose of groups. One that chooses none of their servers is an error, also where the catalog has it.
fn narrowed(groups: Vec<GroupSpec>, patterns: &[String]) -> Result<Vec<GroupSpec>, PlanError> {
    let of_groups = groups.iter().flat_map(|group| std::iter::once(&group.baseline).chain(&group.servers));
    let known: Vec<String> = distinct(of_groups).into_iter().cloned().collect();
    let chosen = select_names("--servers", "server of [[groups]]", patterns, &known)?;
    let narrow = |mut group: GroupSpec| {
        group.servers.retain(|name| chosen.contains(name));
        group.with_baseline = chosen.contains(&group.baseline);
        (group.with_baseline || !group.servers.is_empty()).then_some(group)
    };
    Ok(groups.into_iter().filter_map(narrow).collect())
}

/// The error of a suite file that names no server. It does not mean all servers of the catalog.
fn no_server_error(file: &str) -> PlanError {
    let message = "names no server; write [servers.NAME] with a command, [[groups]] with a baseline and servers, or \
                   servers = [\"http4s.Tapir\"] under [run], or give --servers";
    PlanError::value(file, message)
}

impl NameLookup<'_> {
    /// What is asked for: groups whose servers and scenarios are whole names.
    pub fn requested_groups(&self) -> Result<Vec<GroupSpec>, PlanError> {
        let (flags, suite) = (self.inputs.flags, self.inputs.suite);
        if let Some(server) = self.aa() {
            let origin = suite.origin_of("aa", flags);
            let name = self.server(&origin, server)?;
            return Ok(vec![GroupSpec {
                servers: vec![name.clone()],
                baseline: name,
                scenarios: Some(self.scenarios("", None)?),
                with_baseline: true,
                ..GroupSpec::default()
            }]);
        }
        if suite.groups.is_empty() || flags.baseline.is_some() {
            self.groups_by_baseline()
        } else {
            self.groups_of_suite()
        }
    }

    /// The server that is compared with itself. Flags that name servers win over a suite that does so.
    pub fn aa(&self) -> Option<&String> {
        let (flags, suite) = (self.inputs.flags, &self.inputs.suite.run);
        let names_servers = flags.servers.is_some() || flags.baseline.is_some();
        flags.aa.as_ref().or(suite.aa.as_ref().filter(|_| !names_servers))
    }

    /// The suite's own groups, narrowed by `-s` and `-m`.
    fn groups_of_suite(&self) -> Result<Vec<GroupSpec>, PlanError> {
        let (flags, suite) = (self.inputs.flags, self.inputs.suite);
        if flags.servers.is_none() && suite.run.servers.is_some() {
            let origin = suite.origin_of("servers", flags);
            return Err(PlanError::value(origin, "contradicts [[groups]]; leave out this key, or the groups"));
        }
        let mut groups = Vec::new();
        for (index, group) in suite.groups.iter().enumerate() {
            let origin = format!("{}: [[groups]] number {}", suite.file, index + 1);
            let baseline = self.server(&origin, &group.baseline)?;
            let is_own = suite.servers.get(&baseline).is_some_and(|server| server.like.is_none());
            if is_own && group.baseline_version.is_some() {
                let message = format!("is for servers of the catalog, and {baseline} is of this suite; leave it out");
                return Err(PlanError::value(format!("{origin} baseline_version"), message));
            }
            let servers = select_names(&origin, "server", &group.servers, &self.servers)?;
            let scenarios = Some(self.scenarios(&origin, group.scenarios.as_deref())?);
            groups.push(GroupSpec { baseline, servers, scenarios, with_baseline: true, ..group.clone() });
        }
        if let Some(patterns) = &flags.servers {
            groups = narrowed(groups, patterns)?;
        }
        // `-m` wins over the scenarios of each group, so that groups may become alike.
        let mut requested = distinct(groups);
        let in_a_comparison: Vec<GroupSpec> =
            requested.iter().filter(|group| !group.servers.is_empty()).cloned().collect();
        requested.retain(|group| !in_a_comparison.iter().any(|other| group.is_baseline_of(other)));
        Ok(requested)
    }

    /// Servers chosen by name, grouped by what each is compared with.
    fn groups_by_baseline(&self) -> Result<Vec<GroupSpec>, PlanError> {
        let (flags, suite) = (self.inputs.flags, self.inputs.suite);
        let (origin, patterns) = match flags.servers.as_ref().or(suite.run.servers.as_ref()) {
            Some(patterns) => (suite.origin_of("servers", flags), patterns.clone()),
            // A suite with servers of its own measures those by default, and not the catalog's.
            None if !suite.servers.is_empty() => (String::new(), suite.servers.keys().cloned().collect()),
            None if !suite.file.is_empty() => return Err(no_server_error(&suite.file)),
            None => (String::new(), vec!["*".to_owned()]),
        };
        let chosen = select_names(&origin, "server", &patterns, &self.servers)?;
        let scenarios = self.scenarios("", None)?;
        let common = flags.baseline.as_ref().or(suite.run.baseline.as_ref());
        let common = common.map(|name| self.server(&suite.origin_of("baseline", flags), name)).transpose()?;
        let mut with_baselines = Vec::new();
        for name in chosen {
            let own = if common.is_none() { self.baseline_of(&name)? } else { None };
            with_baselines.push((common.clone().or(own).unwrap_or_else(|| name.clone()), name));
        }
        let group = |(baseline, servers): (String, Vec<String>)| GroupSpec {
            with_baseline: servers.contains(&baseline),
            baseline,
            servers,
            scenarios: Some(scenarios.clone()),
            ..GroupSpec::default()
        };
        Ok(grouped_by(with_baselines.into_iter()).into_iter().map(group).collect())
    }

    fn baseline_of(&self, name: &str) -> Result<Option<String>, PlanError> {
        if let Some(known) = self.inputs.inventory.get(name) {
            return Ok(known.baseline.clone());
        }
        let suite = self.inputs.suite;
        let Some(baseline) = suite.servers.get(name).and_then(|server| server.baseline.clone()) else {
            return Ok(None);
        };
        let origin = format!("{}: [servers.{name}] baseline", suite.file);
        let found = self.server(&origin, &baseline)?;
        if found == name {
            let message = format!("\"{baseline}\" is the server itself; name the server that it is compared with");
            return Err(PlanError::value(origin, message));
        }
        Ok(Some(found))
    }

    fn server(&self, origin: &str, pattern: &String) -> Result<String, PlanError> {
        let mut found = select_names(origin, "server", std::slice::from_ref(pattern), &self.servers)?;
        if found.len() > 1 {
            let message = format!("\"{pattern}\" means several servers, {}; name one", enumerate(&found));
            return Err(PlanError::value(origin, message));
        }
        Ok(found.swap_remove(0))
    }

    /// `-m` wins over the group's own list, which wins over `[run] scenarios`; without any of them, all.
    fn scenarios(&self, origin: &str, of_group: Option<&[String]>) -> Result<Vec<String>, PlanError> {
        let suite = self.inputs.suite;
        let (origin, patterns) = match (&self.inputs.flags.scenarios, of_group, &suite.run.scenarios) {
            (Some(patterns), ..) => ("--scenarios".to_owned(), patterns.clone()),
            (None, Some(patterns), _) => (origin.to_owned(), patterns.to_vec()),
            (None, None, Some(patterns)) => (format!("{}: [run] scenarios", suite.file), patterns.clone()),
            // A suite with scenarios of its own measures those by default, and not the catalog's.
            (None, None, None) if !suite.scenarios.is_empty() => {
                (String::new(), suite.scenarios.keys().cloned().collect())
            }
            (None, None, None) => (String::new(), self.exchange_scenarios()),
        };
        let known: Vec<String> = self.scenarios.keys().cloned().collect();
        let mut chosen = select_names(&origin, "scenario", &patterns, &known)?;
        // Names without globs keep the order in which they were asked for.
        chosen.sort_by_key(|name| patterns.iter().position(|pattern| pattern == name).unwrap_or(usize::MAX));
        Ok(chosen)
    }

    /// The scenarios in which the client sends requests. Those with pushed messages take minutes, so they must be named.
    fn exchange_scenarios(&self) -> Vec<String> {
        self.scenarios.iter().filter(|(_, scenario)| scenario.push.is_none()).map(|(name, _)| name.clone()).collect()
    }

    /// The versions that `--versions` or the suite asks for: each must be one that a server has. A server that lacks it is left
    /// out, with the reason.
    pub fn requested_versions(&self, requested: &[GroupSpec]) -> Result<Vec<String>, PlanError> {
        let (flags, suite) = (self.inputs.flags, self.inputs.suite);
        let Some(versions) = flags.versions.as_ref().or(suite.run.versions.as_ref()) else { return Ok(Vec::new()) };
        let servers = requested.iter().flat_map(|group| group.servers.iter().chain([&group.baseline]));
        let servers = servers.filter_map(|name| self.inputs.inventory.get(name));
        let known = distinct(servers.flat_map(|server| &server.versions).map(String::as_str));
        // Servers of the suite itself have no versions.
        if known.is_empty() {
            return Ok(Vec::new());
        }
        match versions.iter().find(|version| !known.contains(&version.as_str())) {
            None => Ok(versions.clone()),
            Some(unknown) => Err(PlanError::NoMatch {
                origin: suite.origin_of("versions", flags),
                kind: "version",
                pattern: unknown.clone(),
                suggestion: String::new(),
                known: known.join(", "),
            }),
        }
    }

    /// Puts what was chosen first in the list of settings.
    pub fn list_choices(&self, requested: &[GroupSpec], settings: &mut Vec<Setting>) {
        let (flags, suite) = (self.inputs.flags, &self.inputs.suite.run);
        let source = |flag: bool, in_suite: bool| match (flag, in_suite) {
            (true, _) => Source::Flag,
            (false, true) => Source::Suite,
            (false, false) => Source::Default,
        };
        let scenarios = requested.iter().flat_map(|group| group.scenarios.iter().flatten()).map(String::as_str);
        let scenarios = distinct(scenarios).join(" ");
        let of_groups = !self.inputs.suite.groups.is_empty();
        let servers: Vec<String> =
            requested.iter().map(|a| format!("{} on {}", a.servers.join(" "), a.baseline)).collect();
        let in_suite = suite.servers.is_some() || suite.aa.is_some() || of_groups;
        let of_servers = source(flags.servers.is_some() || flags.aa.is_some(), in_suite);
        let of_scenarios = source(flags.scenarios.is_some(), suite.scenarios.is_some() || of_groups);
        let choices = [
            Setting::new("what", "servers", servers.join("; "), of_servers, "compared, and the baseline beneath"),
            Setting::new("what", "scenarios", scenarios, of_scenarios, "what is asked of them"),
        ];
        settings.splice(0..0, choices);
    }
}
