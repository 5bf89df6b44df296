//! Which variants are started together, and under which scenarios they are compared.

use std::path::Path;

use tare_units::distinct;

use super::Inputs;
use super::requested::NameLookup;
use super::{other_servers, spoken};
use crate::PlanError;
use crate::choices::ForkCovers;
use crate::contract::Scenario;
use crate::plan::{
    CommandServer, Group, HttpVersion, Mode, NamedScenario, Program, Role, Setting, Skipped, TransportKeys, Variant,
};
use crate::settings::Options;
use crate::suite::GroupSpec;

/// The groups, and the requested cells that cannot be measured. `settings` gets what was chosen.
pub(super) fn resolve(
    inputs: &Inputs<'_>,
    mode: Mode,
    values: &Options,
    settings: &mut Vec<Setting>,
) -> Result<(Vec<Group>, Vec<Skipped>), PlanError> {
    let mut servers = inputs.inventory.names();
    servers.extend(inputs.suite.servers.keys().filter(|name| inputs.inventory.get(name).is_none()).cloned());
    let mut scenarios = inputs.suite.scenarios_with(inputs.contract);
    if let Some(messages) = values.messages {
        scenarios.values_mut().filter_map(|scenario| scenario.push.as_mut()).for_each(|push| push.messages = messages);
    }
    other_servers::check_likes(inputs)?;
    other_servers::check_upstreams(inputs, &servers)?;
    let lookup = NameLookup { inputs, servers, scenarios, mode };
    let requested = lookup.requested_groups()?;
    lookup.list_choices(&requested, settings);
    let mut skipped = Vec::new();
    let mut groups = Vec::new();
    let versions = lookup.requested_versions(&requested)?;
    for requested in &requested {
        let of_catalog = inputs.inventory.get(&requested.baseline).is_some();
        if versions.is_empty() || !of_catalog {
            groups.extend(lookup.build_groups(requested, None, values, &mut skipped)?);
        }
        for version in versions.iter().filter(|_| of_catalog) {
            groups.extend(lookup.build_groups(requested, Some(version), values, &mut skipped)?);
        }
    }
    groups.iter().try_for_each(|group| check_names(group, &inputs.suite.file))?;
    make_ids_unique(&mut groups);
    // What is left out of several scenarios or groups for one reason is said once.
    let skipped = distinct(skipped);
    if groups.is_empty() {
        if requested.iter().all(|requested| requested.scenarios.iter().flatten().next().is_none()) {
            return Err(no_scenario_error(&inputs.suite.file));
        }
        let reasons: Vec<String> = skipped.iter().map(|s| format!("{}: {}", s.what, s.because)).collect();
        return Err(PlanError::Empty(if reasons.is_empty() { "no server is left".into() } else { reasons.join("; ") }));
    }
    Ok((groups, skipped))
}

fn no_scenario_error(file: &str) -> PlanError {
    let scenario = "[scenarios.NAME] with request = { path = \"/\" } and expect = { status = 200 }";
    let (origin, message) = match file {
        "" => ("--contract", format!("no scenario is known here; give a file with schema = 1 and {scenario}")),
        file => (file, format!("names no scenario; write {scenario}")),
    };
    PlanError::value(origin, message)
}

fn left_alone(what: String) -> Skipped {
    Skipped { what, because: "nothing that could be compared with it is left".to_owned() }
}

/// Refuses a name of the suite that tare gives to another server of the group: in the record they would be one.
fn check_names(group: &Group, file: &str) -> Result<(), PlanError> {
    for own in &group.variants {
        // Of two servers of one name, the one of the suite has more of it.
        let is_other = |other: &&Variant| other.name == own.name && other.server.len() < own.server.len();
        if let Some(other) = group.variants.iter().find(is_other) {
            let message = format!(
                "is what tare calls {} at another version, in another protocol or started again; give this server \
                 another name",
                other.server
            );
            return Err(PlanError::value(format!("{file}: [servers.{:?}]", own.server), message));
        }
    }
    Ok(())
}

/// Gives every group an id of its own. Groups of one baseline are named after the first server that they compare with
/// it, then after their first scenario, then by number.
fn make_ids_unique(groups: &mut [Group]) {
    rename_duplicates(groups, |group, _| {
        let first = group.variants.iter().find(|variant| variant.role == Role::Compared)?;
        Some(format!("{} ({})", group.id, first.name))
    });
    rename_duplicates(groups, |group, _| Some(format!("{} {}", group.id, group.scenarios.first()?.name)));
    rename_duplicates(groups, |group, number| Some(format!("{} {number}", group.id)));
}

/// Renames the groups whose id another group has too; `name` gets the group's number, from 1.
fn rename_duplicates(groups: &mut [Group], name: fn(&Group, usize) -> Option<String>) {
    let ids: Vec<String> = groups.iter().map(|group| group.id.clone()).collect();
    for (number, (group, id)) in (1..).zip(groups.iter_mut().zip(&ids)) {
        let is_alike = ids.iter().filter(|other| *other == id).count() > 1;
        if let Some(name) = name(group, number).filter(|_| is_alike) {
            group.id = name;
        }
    }
}

#[derive(Clone, Copy)]
struct Build<'a> {
    /// Version of the library; the catalog's default if `None`.
    version: Option<&'a str>,
    /// Folder of another copy of the project.
    home: Option<&'a str>,
    role: Role,
}

impl Build<'_> {
    fn variant_name(self, server: &str) -> String {
        let build = match (self.home, self.version) {
            (Some(_), _) => "@baseline".to_owned(),
            (None, Some(version)) => format!("@{version}"),
            (None, None) => String::new(),
        };
        format!("{server}{build}{}", if self.role == Role::Control { " (again)" } else { "" })
    }
}

impl NameLookup<'_> {
    fn variant(&self, server: &str, build: Build<'_>, of_scenario: &TransportKeys) -> Result<Variant, String> {
        // A server of the suite replaces the catalog's of the same name.
        let stated = self.inputs.suite.servers.get(server);
        let asked = spoken::asked(self.inputs, stated.unwrap_or(&CommandServer::default()), of_scenario);
        let by_run = asked.protocol.filter(|protocol| *protocol != HttpVersion::Http1);
        let by_run = by_run.filter(|_| stated.is_none_or(|stated| stated.protocol.is_none()));
        let mut variant = match (stated, by_run) {
            (Some(_), _) => self.variant_of_suite(server, &asked, build)?,
            (None, _) if asked.tls.is_some() && asked.protocol != Some(HttpVersion::H2) => {
                return Err("is of the catalog, whose servers speak TLS with protocol = \"h2\" only".to_owned());
            }
            (None, None) => self.catalog_variant(server, build)?,
            (None, Some(_)) if build.home.is_none() => self.variant_like(server, server, &asked, build)?,
            (None, Some(protocol)) => {
                return Err(format!("a baseline in another copy of the project is not asked in {protocol}"));
            }
        };
        // Its figures are not those of an earlier run over HTTP/1.1.
        variant.name.extend(by_run.map(|protocol| format!(" over {protocol}")));
        Ok(variant)
    }

    fn variant_of_suite(&self, server: &str, command: &CommandServer, build: Build<'_>) -> Result<Variant, String> {
        if let Some(like) = &command.like {
            return self.variant_like(server, like, command, build);
        }
        let upstream = command.in_front_of.as_deref().map(|upstream| self.upstream(upstream, build)).transpose()?;
        let transport = command.transport().map_err(|(key, message)| format!("{key} {message}"))?;
        Ok(Variant {
            name: build.variant_name(server),
            server: server.to_owned(),
            family: server.split('.').next().unwrap_or(server).to_owned(),
            kind: command.kind.clone().unwrap_or_default(),
            version: None,
            // The routes of an external server are not known here. The verification checks them.
            routes: command.routes.unwrap_or(match &upstream {
                Some(upstream) => upstream.routes,
                None if command.url.is_some() => u32::MAX,
                None => 1,
            }),
            role: build.role,
            upstream,
            program: match command.url.clone() {
                Some(url) => Program::External { url, transport },
                None => {
                    let cwd = self.working_directory(command);
                    Program::Command(Box::new(CommandServer { cwd, ..command.clone() }))
                }
            },
        })
    }

    /// A server that is like one of the catalog, or is that itself, asked in another protocol.
    fn variant_like(
        &self,
        server: &str,
        like: &str,
        command: &CommandServer,
        build: Build<'_>,
    ) -> Result<Variant, String> {
        let alike = self.catalog_variant(like, Build { home: None, ..build })?;
        let transport = spoken::with_catalog(self.inputs, like, command)?;
        let program = Program::CatalogLike { like: like.to_owned(), changes: command.changes(), transport };
        let kind = command.kind.clone().unwrap_or_else(|| alike.kind.clone());
        Ok(Variant { name: build.variant_name(server), server: server.to_owned(), kind, program, ..alike })
    }

    /// The server behind a proxy. One of the catalog has the version of the group. What a run asks in is asked of the proxy.
    fn upstream(&self, server: &str, build: Build<'_>) -> Result<Box<Variant>, String> {
        let stated = self.inputs.suite.servers.get(server);
        let build = Build { version: build.version.filter(|_| stated.is_none()), home: None, ..build };
        let upstream = match stated {
            Some(command) => self.variant_of_suite(server, command, build),
            None => self.catalog_variant(server, build),
        };
        let upstream = upstream.map_err(|because| format!("{server} behind it: {because}"))?;
        let name = Build { role: Role::Compared, ..build }.variant_name(server);
        Ok(Box::new(Variant { name, ..upstream }))
    }

    fn catalog_variant(&self, server: &str, build: Build<'_>) -> Result<Variant, String> {
        let known = self.inputs.inventory.get(server).ok_or("is not known")?;
        // Another copy of the project has a catalog of its own, maybe with other versions.
        let of_this_home = build.version.filter(|_| build.home.is_none());
        if let Some(version) = of_this_home.filter(|version| !known.versions.iter().any(|one| one == version)) {
            return Err(format!("has no version {version}; there are: {}", known.versions.join(", ")));
        }
        if let Some(reason) = &known.unavailable {
            return Err(reason.clone());
        }
        Ok(Variant {
            name: build.variant_name(server),
            server: server.to_owned(),
            family: known.family.clone(),
            kind: known.kind.clone(),
            version: Some(build.version.unwrap_or(&known.default_version).to_owned()),
            routes: known.routes,
            role: build.role,
            upstream: None,
            program: build.home.map_or(Program::Catalog, |home| Program::CatalogIn { home: home.to_owned() }),
        })
    }

    /// A server runs in the folder of the suite that names it, unless it says otherwise.
    fn working_directory(&self, command: &CommandServer) -> Option<String> {
        let file = &self.inputs.suite.file;
        let beside = |cwd: &String| Path::new(file).with_file_name(cwd).display().to_string();
        let folder = || file.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        command.cwd.as_ref().map(beside).or_else(folder)
    }

    /// Splits a requested group into groups in which every variant answers every scenario, over the same connections.
    fn build_groups(
        &self,
        requested: &GroupSpec,
        version: Option<&str>,
        values: &Options,
        skipped: &mut Vec<Skipped>,
    ) -> Result<Vec<Group>, PlanError> {
        let mut groups: Vec<Group> = Vec::new();
        for name in requested.scenarios.iter().flatten() {
            let Some(scenario) = self.scenarios.get(name) else { continue };
            let servers: Vec<&String> = requested.servers.iter().chain([&requested.baseline]).collect();
            spoken::check_agreement(self.inputs, &servers, (name, scenario))?;
            let variants = self.variants(requested, version, &scenario.transport_keys(), values, skipped);
            let able = self.able_variants(variants, name, scenario, skipped);
            let Some(first) = able.first() else { continue };
            if self.is_left_alone(requested, &able) {
                skipped.push(left_alone(format!("{} × {name}", first.name)));
                continue;
            }
            if self.mode == Mode::Compared && first.role != Role::Baseline {
                let because = format!("its baseline {} is not measured there", requested.baseline);
                let left_out =
                    |one: &Variant| Skipped { what: format!("{} × {name}", one.name), because: because.clone() };
                skipped.extend(able.iter().map(left_out));
                continue;
            }
            let named = NamedScenario { name: name.clone(), scenario: scenario.clone() };
            let fits = |group: &&mut Group| values.fork_covers == Some(ForkCovers::Group) && group.variants == able;
            match groups.iter_mut().find(fits) {
                Some(group) => group.scenarios.push(named),
                None => {
                    let (id, ladder) = (first.name.clone(), requested.ladder);
                    groups.push(Group { id, variants: able, scenarios: vec![named], ladder });
                }
            }
        }
        if groups.len() > 1 {
            for group in &mut groups {
                group.id = format!("{}/{}", group.id, group.scenarios[0].name);
            }
        }
        Ok(groups)
    }

    /// The variants of a requested group, in scenarios that state these keys; none where nothing is left to compare.
    fn variants(
        &self,
        requested: &GroupSpec,
        version: Option<&str>,
        keys: &TransportKeys,
        values: &Options,
        skipped: &mut Vec<Skipped>,
    ) -> Vec<Variant> {
        let mut variants = Vec::new();
        let aa = self.aa().is_some() && requested.servers == [requested.baseline.clone()];
        let build = Build { version, home: None, role: Role::Compared };
        let of_baseline = Build {
            version: requested.baseline_version.as_deref().or(version),
            home: requested.baseline_home.as_deref(),
            role: Role::Baseline,
        };
        if self.mode == Mode::Compared || requested.with_baseline {
            match self.variant(&requested.baseline, of_baseline, keys) {
                Ok(baseline) => variants.push(baseline),
                Err(because) => {
                    skipped.push(Skipped { what: format!("{} and all compared with it", requested.baseline), because });
                    return Vec::new();
                }
            }
        }
        let is_other_build = requested.baseline_version.is_some() || requested.baseline_home.is_some();
        let is_compared = |server: &&String| **server != requested.baseline || is_other_build;
        let of_version = |version| Build { version: Some(version), ..build };
        let pinned = requested.pinned.iter().map(|(server, version)| (server, of_version(version.as_str())));
        let compared = requested.servers.iter().filter(is_compared).map(|server| (server, build));
        for (server, build) in compared.chain(pinned) {
            match self.variant(server, build, keys) {
                Ok(variant) => variants.push(variant),
                Err(because) => skipped.push(Skipped { what: server.clone(), because }),
            }
        }
        if self.is_left_alone(requested, &variants) {
            skipped.push(left_alone(requested.baseline.clone()));
            return Vec::new();
        }
        if aa || values.control == Some(true) && variants.len() > 1 {
            let of_control = Build { role: Role::Control, ..of_baseline };
            variants.extend(self.variant(&requested.baseline, of_control, keys).ok());
        }
        variants
    }

    /// Whether these are a baseline for others alone, none of which is left.
    fn is_left_alone(&self, requested: &GroupSpec, variants: &[Variant]) -> bool {
        let is_for_others = !requested.servers.is_empty() && !requested.servers.contains(&requested.baseline);
        let is_alone = variants.iter().all(|variant| variant.role != Role::Compared);
        self.mode == Mode::Compared && is_for_others && is_alone
    }

    fn able_variants(
        &self,
        mut variants: Vec<Variant>,
        name: &str,
        scenario: &Scenario,
        skipped: &mut Vec<Skipped>,
    ) -> Vec<Variant> {
        variants.retain(|variant| {
            let reason = self.reason_to_skip(variant, name, scenario);
            let because = reason.clone().filter(|_| variant.role != Role::Control);
            skipped.extend(because.map(|because| Skipped { what: format!("{} × {name}", variant.name), because }));
            reason.is_none()
        });
        variants
    }

    /// Why a server is not measured in this scenario; `None` if it is.
    fn reason_to_skip(&self, variant: &Variant, name: &str, scenario: &Scenario) -> Option<String> {
        if variant.routes < scenario.routes {
            return Some(format!("needs {} routes, the server has {}", scenario.routes, variant.routes));
        }
        if let Some(reason) = variant.program.transport().why_not(scenario) {
            return Some(reason.to_owned());
        }
        let lack = || self.inputs.contract.why_not_served(&variant.identity(), name).map(str::to_owned);
        // The contract's lacks apply to servers of the catalog only.
        if variant.last_server().program.is_of_catalog() { lack() } else { None }
    }
}
