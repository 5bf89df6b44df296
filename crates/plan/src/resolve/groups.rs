//! Which variants are started together, and under which scenarios they are weighed.

use std::collections::BTreeMap;

use super::Inputs;
use super::settings::Settings;
use super::versions;
use crate::PlanError;
use crate::contract::Scenario;
use crate::names::select;
use crate::options::ForkCovers;
use crate::plan::{CommandServer, Group, Mode, NamedScenario, Program, Role, Setting, Skipped, Source, Variant};

/// The groups, and what was asked for but cannot be.
pub(super) struct Chosen {
    pub groups: Vec<Group>,
    pub skipped: Vec<Skipped>,
}

/// A baseline with the servers that are weighed against it and the scenarios asked for, by name.
struct Asked {
    baseline: String,
    servers: Vec<String>,
    scenarios: Vec<String>,
    /// Whether the baseline is measured where nothing is compared, too: a suite's groups name it, `-s` may leave it out.
    with_baseline: bool,
    ladder: bool,
}

/// Everything that names are looked up in.
struct World<'a> {
    inputs: &'a Inputs<'a>,
    servers: Vec<String>,
    scenarios: BTreeMap<String, Scenario>,
    mode: Mode,
}

pub(super) fn resolve(inputs: &Inputs<'_>, mode: Mode, settings: &mut Settings) -> Result<Chosen, PlanError> {
    let mut servers = inputs.inventory.names();
    servers.extend(inputs.suite.servers.keys().filter(|name| inputs.inventory.get(name).is_none()).cloned());
    let mut scenarios = inputs.suite.contract(inputs.contract).scenarios;
    cut_messages(&mut scenarios, settings.messages);
    let world = World { inputs, servers, scenarios, mode };
    let asked = world.asked()?;
    world.list(&asked, settings);
    let mut skipped = Vec::new();
    let mut groups = Vec::new();
    let weighed = asked.iter().flat_map(|asked| asked.servers.iter().chain([&asked.baseline]));
    let versions = versions::asked(inputs, weighed.map(String::as_str))?;
    for asked in &asked {
        let of_catalog = inputs.inventory.get(&asked.baseline).is_some();
        if versions.is_empty() || !of_catalog {
            groups.extend(world.build(asked, None, settings, &mut skipped)?);
        }
        for version in versions.iter().filter(|_| of_catalog) {
            groups.extend(world.build(asked, Some(version), settings, &mut skipped)?);
        }
    }
    tell_apart(&mut groups);
    if groups.is_empty() {
        let reasons: Vec<String> = skipped.iter().map(|s| format!("{}: {}", s.what, s.because)).collect();
        return Err(PlanError::Empty(if reasons.is_empty() { "no server is left".into() } else { reasons.join("; ") }));
    }
    Ok(Chosen { groups, skipped })
}

/// Groups of one baseline that a suite keeps apart are told apart by what is weighed in them.
fn tell_apart(groups: &mut [Group]) {
    let ids: Vec<String> = groups.iter().map(|group| group.id.clone()).collect();
    for (group, id) in groups.iter_mut().zip(&ids) {
        let alike = ids.iter().filter(|other| *other == id).count() > 1;
        if let Some(first) = group.variants.iter().find(|v| v.role == Role::Weighed).filter(|_| alike) {
            group.id = format!("{id} ({})", first.name);
        }
    }
}

/// Has users read so many messages instead of what the scenarios say.
fn cut_messages(scenarios: &mut BTreeMap<String, Scenario>, messages: Option<u32>) {
    let Some(messages) = messages else { return };
    scenarios.values_mut().filter_map(|scenario| scenario.push.as_mut()).for_each(|push| push.messages = messages);
}

/// A question in words for a run that was given none.
pub(super) fn question(groups: &[Group]) -> String {
    let Some(group) = groups.first() else { return String::new() };
    let baseline = &group.baseline().name;
    let weighed: Vec<&str> =
        group.variants.iter().filter(|v| v.role == Role::Weighed).map(|v| v.name.as_str()).collect();
    match weighed.as_slice() {
        [] if group.variants.len() > 1 => format!("How far does {baseline} differ from itself?"),
        [] => format!("How fast is {baseline}?"),
        [one] if groups.len() == 1 => format!("What does {one} cost on top of {baseline}?"),
        many if groups.len() == 1 => format!("What do {} cost on top of {baseline}?", many.join(", ")),
        _ => {
            let mut baselines: Vec<&str> = groups.iter().map(|g| g.baseline().name.as_str()).collect();
            baselines.dedup();
            format!("What do the layers cost on top of {}?", baselines.join(", "))
        }
    }
}

impl World<'_> {
    fn asked(&self) -> Result<Vec<Asked>, PlanError> {
        let (flags, suite) = (self.inputs.flags, self.inputs.suite);
        if let Some(server) = flags.aa.as_ref().or(suite.run.aa.as_ref()) {
            let name = select("--aa", "server", std::slice::from_ref(server), &self.servers)?.swap_remove(0);
            return Ok(vec![Asked {
                servers: vec![name.clone()],
                baseline: name,
                scenarios: self.scenarios("", None)?,
                with_baseline: true,
                ladder: false,
            }]);
        }
        if suite.groups.is_empty() || flags.baseline.is_some() { self.ungrouped() } else { self.grouped() }
    }

    /// The suite's own groups, narrowed by `-s` and `-m`.
    fn grouped(&self) -> Result<Vec<Asked>, PlanError> {
        let narrowed = match &self.inputs.flags.servers {
            Some(patterns) => Some(select("--servers", "server", patterns, &self.servers)?),
            None => None,
        };
        let mut asked = Vec::new();
        for (index, group) in self.inputs.suite.groups.iter().enumerate() {
            let origin = format!("{}: [[groups]] number {}", self.inputs.suite.file, index + 1);
            let baseline =
                select(&origin, "server", std::slice::from_ref(&group.baseline), &self.servers)?.swap_remove(0);
            let mut servers = select(&origin, "server", &group.servers, &self.servers)?;
            if let Some(narrowed) = &narrowed {
                servers.retain(|name| narrowed.contains(name));
                if servers.is_empty() && !narrowed.contains(&baseline) {
                    continue;
                }
            }
            let with_baseline = narrowed.as_ref().is_none_or(|narrowed| narrowed.contains(&baseline));
            let scenarios = self.scenarios(&origin, group.scenarios.as_deref())?;
            let ladder = group.ladder;
            asked.push(Asked { baseline, servers, scenarios, with_baseline, ladder });
        }
        Ok(asked)
    }

    /// Servers chosen by name, grouped by what each is weighed against.
    fn ungrouped(&self) -> Result<Vec<Asked>, PlanError> {
        let (flags, suite) = (self.inputs.flags, self.inputs.suite);
        let (origin, patterns) = match (&flags.servers, &suite.run.servers) {
            (Some(patterns), _) => ("--servers".to_owned(), patterns.clone()),
            (None, Some(patterns)) => (format!("{}: [run] servers", suite.file), patterns.clone()),
            // A suite that brings servers of its own means those, not the catalog's.
            (None, None) if !suite.servers.is_empty() => (String::new(), suite.servers.keys().cloned().collect()),
            (None, None) => (String::new(), vec!["*".to_owned()]),
        };
        let chosen = select(&origin, "server", &patterns, &self.servers)?;
        let scenarios = self.scenarios("", None)?;
        let common = match flags.baseline.as_ref().or(suite.run.baseline.as_ref()) {
            Some(name) => {
                Some(select("--baseline", "server", std::slice::from_ref(name), &self.servers)?.swap_remove(0))
            }
            None => None,
        };
        let mut asked: Vec<Asked> = Vec::new();
        for name in chosen {
            let baseline = common.clone().or_else(|| self.baseline_of(&name)).unwrap_or_else(|| name.clone());
            match asked.iter_mut().find(|group| group.baseline == baseline) {
                Some(group) => {
                    group.with_baseline |= name == baseline;
                    group.servers.push(name);
                }
                None => {
                    let with_baseline = name == baseline;
                    let scenarios = scenarios.clone();
                    asked.push(Asked { baseline, servers: vec![name], scenarios, with_baseline, ladder: false });
                }
            }
        }
        Ok(asked)
    }

    fn baseline_of(&self, name: &str) -> Option<String> {
        match self.inputs.inventory.get(name) {
            Some(known) => known.baseline.clone(),
            None => self.inputs.suite.servers.get(name).and_then(|server| server.baseline.clone()),
        }
    }

    /// `-m` wins over the group's own list, which wins over `[run] scenarios`; without any of them, all.
    fn scenarios(&self, origin: &str, of_group: Option<&[String]>) -> Result<Vec<String>, PlanError> {
        let suite = self.inputs.suite;
        let (origin, patterns) = match (&self.inputs.flags.scenarios, of_group, &suite.run.scenarios) {
            (Some(patterns), ..) => ("--scenarios".to_owned(), patterns.clone()),
            (None, Some(patterns), _) => (origin.to_owned(), patterns.to_vec()),
            (None, None, Some(patterns)) => (format!("{}: [run] scenarios", suite.file), patterns.clone()),
            // A suite that brings scenarios of its own means those, not the catalog's.
            (None, None, None) if !suite.scenarios.is_empty() => {
                (String::new(), suite.scenarios.keys().cloned().collect())
            }
            (None, None, None) => (String::new(), self.exchanges()),
        };
        let known: Vec<String> = self.scenarios.keys().cloned().collect();
        let chosen = select(&origin, "scenario", &patterns, &known)?;
        // Names without globs keep the order in which they were asked for.
        let place = |name: &String| patterns.iter().position(|pattern| pattern == name).unwrap_or(usize::MAX);
        let mut ordered = chosen;
        ordered.sort_by_key(place);
        Ok(ordered)
    }

    /// The scenarios in which the client asks. Those in which the server sends take minutes, so they wait to be named.
    fn exchanges(&self) -> Vec<String> {
        self.scenarios.iter().filter(|(_, scenario)| scenario.push.is_none()).map(|(name, _)| name.clone()).collect()
    }

    fn variant(&self, server: &str, version: Option<&str>, role: Role) -> Result<Variant, String> {
        let name = match (role, version) {
            (Role::Control, Some(version)) => format!("{server}@{version} (again)"),
            (Role::Control, None) => format!("{server} (again)"),
            (_, Some(version)) => format!("{server}@{version}"),
            (_, None) => server.to_owned(),
        };
        // A server of the suite replaces the catalog's of the same name.
        if let Some(command) = self.inputs.suite.servers.get(server) {
            return Ok(Variant {
                name,
                server: server.to_owned(),
                family: server.split('.').next().unwrap_or(server).to_owned(),
                kind: command.kind.clone().unwrap_or_default(),
                version: None,
                // What a server that runs elsewhere can do, verifying it will tell.
                routes: command.routes.unwrap_or(if command.url.is_some() { u32::MAX } else { 1 }),
                role,
                program: match &command.url {
                    Some(url) => Program::External { url: url.clone() },
                    None => Program::Command(CommandServer { cwd: self.directory(command), ..command.clone() }),
                },
            });
        }
        let known = self.inputs.inventory.get(server).ok_or("is not known")?;
        if let Some(version) = version.filter(|version| !known.versions.iter().any(|one| one == version)) {
            return Err(format!("has no version {version}; there are: {}", known.versions.join(", ")));
        }
        if let Some(reason) = &known.unavailable {
            return Err(reason.clone());
        }
        Ok(Variant {
            name,
            server: server.to_owned(),
            family: known.family.clone(),
            kind: known.kind.clone(),
            version: Some(version.unwrap_or(&known.default_version).to_owned()),
            routes: known.routes,
            role,
            program: Program::Catalog,
        })
    }

    /// A server runs in the folder of the suite that names it, unless it says otherwise.
    fn directory(&self, command: &CommandServer) -> Option<String> {
        let folder = self.inputs.suite.file.rsplit_once('/').map(|(folder, _)| folder);
        match (folder, &command.cwd) {
            (_, Some(cwd)) if cwd.starts_with('/') => Some(cwd.clone()),
            (Some(folder), Some(cwd)) => Some(format!("{folder}/{cwd}")),
            (None, Some(cwd)) => Some(cwd.clone()),
            (folder, None) => folder.map(str::to_owned),
        }
    }

    /// Splits what was asked into groups within which every variant answers every scenario.
    fn build(
        &self,
        asked: &Asked,
        version: Option<&str>,
        settings: &Settings,
        skipped: &mut Vec<Skipped>,
    ) -> Result<Vec<Group>, PlanError> {
        let mut variants = Vec::new();
        let aa = asked.servers == [asked.baseline.clone()] && self.is_aa();
        if self.mode == Mode::Compared || asked.with_baseline {
            match self.variant(&asked.baseline, version, Role::Baseline) {
                Ok(baseline) => variants.push(baseline),
                Err(because) => {
                    skipped.push(Skipped { what: format!("{} and all weighed against it", asked.baseline), because });
                    return Ok(Vec::new());
                }
            }
        }
        for server in asked.servers.iter().filter(|server| **server != asked.baseline) {
            match self.variant(server, version, Role::Weighed) {
                Ok(variant) => variants.push(variant),
                Err(because) => skipped.push(Skipped { what: server.clone(), because }),
            }
        }
        if aa || settings.control && variants.len() > 1 {
            variants.extend(self.variant(&asked.baseline, version, Role::Control).ok());
        }
        Ok(self.split(asked, variants, settings.fork_covers, skipped))
    }

    fn is_aa(&self) -> bool {
        self.inputs.flags.aa.is_some() || self.inputs.suite.run.aa.is_some()
    }

    fn split(
        &self,
        asked: &Asked,
        variants: Vec<Variant>,
        covers: ForkCovers,
        skipped: &mut Vec<Skipped>,
    ) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for name in &asked.scenarios {
            let Some(scenario) = self.scenarios.get(name) else { continue };
            let mut able: Vec<Variant> = Vec::new();
            for variant in &variants {
                match self.unable(variant, name, scenario) {
                    None => able.push(variant.clone()),
                    Some(_) if variant.role == Role::Control => {}
                    Some(because) => skipped.push(Skipped { what: format!("{} × {name}", variant.name), because }),
                }
            }
            let Some(first) = able.first() else { continue };
            let named = NamedScenario { name: name.clone(), scenario: scenario.clone() };
            let fits = |group: &&mut Group| covers == ForkCovers::Group && group.variants == able;
            match groups.iter_mut().find(fits) {
                Some(group) => group.scenarios.push(named),
                None => {
                    let (id, ladder) = (first.name.clone(), asked.ladder);
                    groups.push(Group { id, variants: able, scenarios: vec![named], ladder });
                }
            }
        }
        if groups.len() > 1 {
            for group in &mut groups {
                group.id = format!("{}/{}", group.id, group.scenarios[0].name);
            }
        }
        groups
    }

    /// Why a server cannot be asked this, where it cannot.
    fn unable(&self, variant: &Variant, name: &str, scenario: &Scenario) -> Option<String> {
        if variant.routes < scenario.routes {
            return Some(format!("needs {} routes, the server has {}", scenario.routes, variant.routes));
        }
        let lack = || self.inputs.contract.lack(&variant.identity(), name).map(str::to_owned);
        // The contract speaks of the catalog's servers.
        if variant.program == Program::Catalog { lack() } else { None }
    }

    /// Puts what was chosen first in the list of settings.
    fn list(&self, asked: &[Asked], settings: &mut Settings) {
        let (flags, suite) = (self.inputs.flags, &self.inputs.suite.run);
        let source = |flag: bool, in_suite: bool| {
            if flag {
                Source::Flag
            } else if in_suite {
                Source::Suite
            } else {
                Source::Default
            }
        };
        let mut scenarios: Vec<&str> = asked.iter().flat_map(|a| a.scenarios.iter().map(String::as_str)).collect();
        let mut seen = std::collections::BTreeSet::new();
        scenarios.retain(|name| seen.insert(*name));
        let of_groups = !self.inputs.suite.groups.is_empty();
        let line = |key: &str, value: String, source: Source, meaning: &str| Setting {
            section: "what".into(),
            key: key.into(),
            value,
            source,
            meaning: meaning.into(),
        };
        let servers =
            asked.iter().map(|a| format!("{} on {}", a.servers.join(" "), a.baseline)).collect::<Vec<_>>().join("; ");
        settings.list.splice(
            0..0,
            [
                line(
                    "servers",
                    servers,
                    source(flags.servers.is_some() || flags.aa.is_some(), suite.servers.is_some() || of_groups),
                    "weighed, and the baseline beneath",
                ),
                line(
                    "scenarios",
                    scenarios.join(" "),
                    source(flags.scenarios.is_some(), suite.scenarios.is_some() || of_groups),
                    "what is asked of them",
                ),
            ],
        );
    }
}
