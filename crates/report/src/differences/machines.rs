//! The table over machines.

use super::ComparisonText;
use super::records::environment;
use crate::text::Sheet;
use tare_analysis::differences::{MachineFigure, MachineTable};
use tare_analysis::format::{Change, enumerate};
use tare_analysis::summary::Estimate;

impl From<&MachineTable> for ComparisonText {
    fn from(machines: &MachineTable) -> Self {
        Self {
            title: "over machines".to_owned(),
            answers: vec![machines.headline.clone()],
            notes: legend(machines).chain(machines.notes.clone()).collect(),
            sheets: sheets(machines).collect(),
        }
    }
}

fn sheets(machines: &MachineTable) -> impl Iterator<Item = Sheet> {
    let row = |figure: &MachineFigure| {
        let of = &figure.of;
        let place = [format!("{} against {}", of.variant, of.baseline), of.scenario.clone(), of.label.clone()];
        let said = said(figure).into_iter().map(|cell| (figure.verdict.into(), cell));
        Sheet::plain(place.into_iter().chain(ratios(figure))).into_iter().chain(said).collect()
    };
    let place = ["servers", "scenario", "figure"].map(str::to_owned);
    let columns = place.into_iter().chain(columns(machines.machines.len()));
    let figures = Sheet::new("Figures", columns, machines.figures.iter().map(row)).by_place(2);
    let title = |at: usize| format!("What else differs on machine {}", at + 1);
    let others = machines.machines.iter().enumerate().map(move |(at, one)| environment(&title(at), &one.environment));
    std::iter::once(figures).chain(others)
}

fn legend(machines: &MachineTable) -> impl Iterator<Item = String> {
    let named = machines.machines.iter().enumerate();
    named.map(|(at, one)| format!("Machine {}: {} (run {})", at + 1, one.name, enumerate(&one.runs)))
}

fn columns(machines: usize) -> Vec<String> {
    let together: &[&str] = if machines == 2 { &["2 / 1"] } else { &["mean over machines", "another machine"] };
    let names = (1..=machines).map(|number| format!("machine {number}"));
    names.chain(together.iter().chain(&["machines"]).map(|name| (*name).to_owned())).collect()
}

/// The change on each machine; with its interval where there are two.
fn ratios(figure: &MachineFigure) -> Vec<String> {
    let shown = |ratio: Estimate| match figure.machines.len() {
        2 => Change::from(ratio).signed_interval(),
        _ => Change { bounds: None, ..ratio.into() }.short(),
    };
    figure.machines.iter().map(|one| one.map_or("–".to_owned(), |one| shown(one.ratio))).collect()
}

fn said(figure: &MachineFigure) -> Vec<String> {
    let interval =
        |estimate: Option<Estimate>| estimate.map_or("–".to_owned(), |one| Change::from(one).signed_interval());
    let together = match figure.machines.len() {
        2 => vec![interval(figure.second_to_first)],
        _ => vec![figure.short.clone(), interval(figure.another_machine)],
    };
    let differ = if figure.machines_differ { "differ" } else { "" };
    together.into_iter().chain([differ.to_owned()]).collect()
}
