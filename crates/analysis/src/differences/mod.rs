//! Two records of one machine, or two servers of one record: what differs between them, figure by figure, with intervals.
//! Records of several machines: what they say together, by ratios to their own baselines.

mod difference;
mod environment;
mod machines;
mod methods;
mod samples;

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

pub use difference::{Basis, FigureChange};
pub use environment::{EnvironmentChange, environment_changes, section_changes};
pub use machines::{
    ComparedMachine, MachineFigure, MachineRatio, MachineTable, Measure, RunFigure, combine_machines, compare_machines,
};
pub use methods::MethodChange;

use crate::summary::{Cell, RunStatus, Summary, ValidityState};
use difference::{FigurePair, judge};
use samples::{StartFigure, both_ratio_figures, level_figures, ratio_figures};

pub const SCHEMA: &str = "tare-comparison/1";

#[derive(Debug, thiserror::Error)]
#[error(
    "nothing to compare: no server was measured on the same scenario in both (of several machines: with its baseline, in \
     two starts). There is {before}; and {after}. Give runs of the same servers (`tare report --list`)"
)]
pub struct NothingInCommon {
    pub before: String,
    pub after: String,
}

#[derive(Debug, Clone, Copy)]
pub struct RecordedRun<'a> {
    pub summary: &'a Summary,
    /// Processor, cores and memory; equal for records of one machine.
    pub machine: &'a str,
}

impl RecordedRun<'_> {
    /// Whether all of these are known. Runs of which they are not may be of one machine or of several.
    pub fn is_of_known_machine(&self) -> bool {
        !self.machine.contains("unknown")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunDifferences {
    pub schema: String,
    pub before: ComparedSide,
    pub after: ComparedSide,
    /// Whether both are of one machine, so that levels are compared too.
    pub same_machine: bool,
    /// What a reader must know: how it was compared, and what could not be.
    pub notes: Vec<String>,
    pub environment: Vec<EnvironmentChange>,
    /// Error probability: that any difference is stated where there is none.
    pub alpha: f64,
    pub region: f64,
    pub changes: Vec<FigureChange>,
    pub methods: Vec<MethodChange>,
}

impl RunDifferences {
    /// A variant as people read it: with its group where several groups have this variant in this scenario.
    pub fn variant_in_group(&self, variant: &str, scenario: &str, group: &str) -> String {
        let is_same_place = |change: &&FigureChange| (&*change.variant, &*change.scenario) == (variant, scenario);
        let is_shared = self.changes.iter().filter(is_same_place).any(|change| change.group != group);
        if is_shared { format!("{variant} (group {group})") } else { variant.to_owned() }
    }
}

/// One side: a record, or a server of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSide {
    pub id: String,
    pub suite: String,
    pub started_at: String,
    pub git_revision: Option<String>,
    pub tare_version: String,
    pub server: Option<String>,
}

impl ComparedSide {
    fn of(summary: &Summary, server: Option<&str>) -> Self {
        let run = &summary.run;
        Self {
            id: run.id.clone(),
            suite: run.suite.clone(),
            started_at: run.started_at.clone(),
            git_revision: run.git_revision.clone(),
            tare_version: run.tare_version.clone(),
            server: server.map(str::to_owned),
        }
    }

    /// The server, or else the id of the run.
    pub fn name(&self) -> &str {
        self.server.as_deref().unwrap_or(&self.id)
    }
}

pub fn compare_runs(before: RecordedRun<'_>, after: RecordedRun<'_>) -> Result<RunDifferences, NothingInCommon> {
    let same_machine = before.machine == after.machine && before.is_of_known_machine();
    let cells: Vec<(&Cell, &Cell)> = common_cells(before.summary, after.summary);
    if cells.is_empty() {
        return Err(NothingInCommon { before: contents(before.summary), after: contents(after.summary) });
    }
    let mut pairs = Vec::new();
    for (old, new) in &cells {
        let figures = (ratio_figures(before.summary, old), ratio_figures(after.summary, new));
        pairs.extend(common_figures((old, new), figures, Basis::Ratio, false));
        if same_machine {
            pairs.extend(common_figures((old, new), (level_figures(old), level_figures(new)), Basis::Level, false));
        }
    }
    let users = [before.summary, after.summary].map(|summary| summary.users().unwrap_or("unknown"));
    let of_load = format!("Another load: {} users before, {} after. Figures differ by that, too.", users[0], users[1]);
    let mut notes: Vec<String> = (users[0] != users[1]).then_some(of_load).into_iter().collect();
    notes.push(basis_note(same_machine, pairs.is_empty()));
    let runs = [before.summary, after.summary].map(|summary| &summary.run);
    notes.extend(runs.into_iter().filter_map(|run| unfinished_note(&run.id, run.status)));
    for summary in [before.summary, after.summary] {
        let void = summary.cells.iter().filter_map(|cell| void_note(summary, cell));
        notes.extend(void.map(|note| format!("Run {}: {note}", summary.run.id)));
    }
    let sides = (ComparedSide::of(before.summary, None), ComparedSide::of(after.summary, None));
    let differences = differences((before.summary, after.summary), sides, &cells, pairs, notes);
    Ok(RunDifferences { same_machine, ..differences })
}

/// Compares two servers of one record, start by start where they ran side by side.
pub fn compare_servers(summary: &Summary, before: &str, after: &str) -> Result<RunDifferences, NothingInCommon> {
    let named = |name: &str| summary.cells.iter().filter(|cell| cell.variant == name).collect::<Vec<_>>();
    let (old, new) = (named(before), named(after));
    let same_place = |one: &Cell, other: &Cell| one.scenario == other.scenario && one.group == other.group;
    let partner = |cell: &Cell| {
        let together = new.iter().find(|other| same_place(cell, other));
        let is_alone = |other: &Cell| !old.iter().any(|one| same_place(one, other));
        let apart = || new.iter().find(|other| other.scenario == cell.scenario && is_alone(other));
        together.or_else(apart).copied()
    };
    let cells: Vec<(&Cell, &Cell)> = old.iter().filter_map(|cell| Some((*cell, partner(cell)?))).collect();
    if cells.is_empty() {
        let contents = contents(summary);
        return Err(NothingInCommon { before: format!("{before} in: {contents}"), after: after.to_owned() });
    }
    let mut notes = vec![
        "Two servers of one record: their starts are compared pair by pair where they ran side by side. Values are \
              those of the report; the change is the geometric mean over the pairs. The report compares neighbouring \
              measurements within a start, so that its intervals are others."
            .into(),
    ];
    notes.extend(old.into_iter().chain(new).filter_map(|cell| void_note(summary, cell)));
    let cells: Vec<(&Cell, &Cell)> = cells.into_iter().filter(|(old, new)| is_usable(old) && is_usable(new)).collect();
    let mut pairs = Vec::new();
    for (old, new) in &cells {
        let side_by_side = old.group == new.group;
        let levels = level_figures(old);
        let mut ratios = both_ratio_figures(summary, old, new);
        // Starts have no levels of bytes, stops and capacity.
        ratios.0.retain(|ratio| levels.iter().all(|level| level.name != ratio.name));
        pairs.extend(common_figures((old, new), (levels, level_figures(new)), Basis::Level, side_by_side));
        pairs.extend(common_figures((old, new), ratios, Basis::Ratio, side_by_side));
    }
    notes.extend(pairs.iter().filter_map(|pair| pair.missing_starts(summary)));
    let sides = (ComparedSide::of(summary, Some(before)), ComparedSide::of(summary, Some(after)));
    Ok(differences((summary, summary), sides, &cells, pairs, notes))
}

fn differences(
    (before, after): (&Summary, &Summary),
    sides: (ComparedSide, ComparedSide),
    cells: &[(&Cell, &Cell)],
    pairs: Vec<FigurePair<'_>>,
    notes: Vec<String>,
) -> RunDifferences {
    let (alpha, region) = (before.run.alpha.min(after.run.alpha), before.run.region.max(after.run.region));
    RunDifferences {
        schema: SCHEMA.to_owned(),
        before: sides.0,
        after: sides.1,
        same_machine: true,
        notes,
        environment: environment_changes(before, after, cells),
        alpha,
        region,
        changes: judge(pairs, alpha, region),
        methods: methods::method_changes(before, after, cells),
    }
}

/// The cells of both records that are of one variant and scenario; or of one server, where only its version differs.
/// Each has one partner.
fn common_cells<'a>(before: &'a Summary, after: &'a Summary) -> Vec<(&'a Cell, &'a Cell)> {
    let usable = |cell: &&Cell| !cell.control && is_usable(cell);
    // Cells of the same place are partners, and no others of a renamed group.
    let mut taken: HashSet<(&str, &str, &str)> = before.cells.iter().filter(usable).map(place).collect();
    let partner = |cell: &'a Cell| {
        let of_scenario = || after.cells.iter().filter(usable).filter(|other| other.scenario == cell.scenario);
        let same = of_scenario().find(|other| place(other) == place(cell));
        let renamed = || of_scenario().find(|other| other.variant == cell.variant && !taken.contains(&place(other)));
        let versions = |cells: &'a Summary| {
            cells.cells.iter().filter(|one| one.scenario == cell.scenario && one.server == cell.server && !one.control)
        };
        let of_other_version =
            || versions(after).next().filter(|_| versions(before).count() == 1 && versions(after).count() == 1);
        let found = same.or_else(renamed).or_else(|| of_other_version().filter(usable))?;
        taken.insert(place(found));
        Some((cell, found))
    };
    before.cells.iter().filter(usable).filter_map(partner).collect()
}

fn place(cell: &Cell) -> (&str, &str, &str) {
    (&cell.group, &cell.scenario, &cell.variant)
}

fn common_figures<'a>(
    cells: (&'a Cell, &'a Cell),
    (before, after): (Vec<StartFigure>, Vec<StartFigure>),
    basis: Basis,
    side_by_side: bool,
) -> Vec<FigurePair<'a>> {
    let mut after = after;
    let pair = |before: StartFigure| {
        let at = after.iter().position(|other| other.is_same_measure(&before))?;
        FigurePair::new(cells, basis, side_by_side, (before, after.swap_remove(at)))
    };
    before.into_iter().filter_map(pair).collect()
}

fn basis_note(same_machine: bool, nothing: bool) -> String {
    let compared = if same_machine {
        "Same machine: ratios to the baselines and levels are compared. Values are those of the reports; the change is \
         between geometric means over starts."
    } else {
        "Not known to be of one machine: only ratios to their own baselines are compared, because levels of different \
         machines cannot be."
    };
    let nothing = if nothing { " No figure was measured under the same load in both." } else { "" };
    format!("{compared}{nothing}")
}

/// Figures of a void cell do not count.
fn is_usable(cell: &Cell) -> bool {
    cell.validity.state != ValidityState::Void
}

fn void_note(summary: &Summary, cell: &Cell) -> Option<String> {
    let reason = cell.validity.reasons.first().map_or("its figures do not count", |reason| &reason.text);
    let scenario = cell.scenario_among(&summary.cells);
    let note = || format!("{} on {scenario} is void: {reason}. It is not compared.", cell.variant);
    (!is_usable(cell)).then(note)
}

fn unfinished_note(run: &str, status: RunStatus) -> Option<String> {
    match status {
        RunStatus::Partial => Some(format!("Run {run} has no end: what it measured until then is compared.")),
        RunStatus::Interrupted => Some(format!("Run {run} was interrupted: what it measured is compared.")),
        RunStatus::Complete | RunStatus::BudgetSpent => None,
    }
}

/// `2026-11-20-1: http4s.Tapir and http4s.Vanilla on SimpleGet`.
fn contents(summary: &Summary) -> String {
    let all = |of: fn(&Cell) -> String| {
        let names: BTreeSet<String> = summary.cells.iter().map(of).collect();
        crate::format::enumerate(&Vec::from_iter(names))
    };
    let variant = |cell: &Cell| format!("{}{}", cell.variant, if is_usable(cell) { "" } else { " (void)" });
    format!("{}: {} on {}", summary.run.id, all(variant), all(|cell| cell.scenario.clone()))
}
