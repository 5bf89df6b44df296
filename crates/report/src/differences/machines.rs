//! The table over machines, for a terminal and as Markdown.

use super::markdown::environment_markdown;
use super::text::environment_table;
use crate::clean::{escape_markdown, sanitize_line};
use crate::markdown::table;
use crate::palette::Tone;
use crate::text::{Grid, Style, wrap};
use tare_analysis::differences::{MachineFigure, MachineTable};
use tare_analysis::format::{Change, enumerate};
use tare_analysis::summary::Estimate;

pub fn render_machines(machines: &MachineTable, style: &Style) -> String {
    let palette = style.palette();
    let paragraph = |tone, text: &str| palette.paint(tone, &wrap(&sanitize_line(text), style.width, 4)) + "\n";
    let mut out = paragraph(Tone::Head, "tare compare · over machines");
    out += &format!("\n{}\n", paragraph(Tone::Head, &format!("  {}", machines.headline)));
    let lines = legend(machines).into_iter().chain(machines.notes.clone());
    out.extend(lines.map(|line| paragraph(Tone::Quiet, &format!("  {line}"))));
    let mut grid = Grid::default();
    grid.push_in(Tone::Quiet, std::iter::once(String::new()).chain(columns(machines.machines.len())));
    let mut place = String::new();
    for figure in &machines.figures {
        let here = format!("{} against {} · {}", figure.of.variant, figure.of.baseline, figure.of.scenario);
        if place != here {
            grid.push_heading(format!("\n  {}", palette.paint(Tone::Head, &sanitize_line(&here))));
            place = here;
        }
        let ratios = std::iter::once(format!("    {}", figure.of.label)).chain(ratios(figure));
        let said = said(figure).into_iter().map(|cell| (figure.verdict.into(), cell));
        grid.push(ratios.map(|cell| (Tone::Plain, cell)).chain(said).collect());
    }
    out += &format!("\n{}", grid.render(&palette));
    for (at, one) in machines.machines.iter().enumerate().skip(1) {
        out += &environment_table(&format!("What else differs on machine {}", at + 1), &one.environment, style);
    }
    out
}

/// The same for a pull request or a page.
pub fn render_machines_markdown(machines: &MachineTable) -> String {
    let mut out = format!("**{}**\n\n", escape_markdown(&machines.headline));
    out.extend(legend(machines).iter().map(|line| format!("- {}\n", escape_markdown(line))));
    out.extend(machines.notes.iter().map(|note| format!("\n{}\n", escape_markdown(note))));
    let names = columns(machines.machines.len());
    let rule = "--:|".repeat(names.len() - 1);
    let head =
        format!("\n| scenario | variant | baseline | figure | {} |\n|---|---|---|---|{rule}---|\n", names.join(" | "));
    let row = |figure: &MachineFigure| {
        let of = [&figure.of.scenario, &figure.of.variant, &figure.of.baseline, &figure.of.label].map(String::clone);
        of.into_iter().chain(ratios(figure)).chain(said(figure)).collect::<Vec<String>>()
    };
    out += &table(&head, machines.figures.iter().map(row));
    for (at, one) in machines.machines.iter().enumerate().skip(1) {
        out += &environment_markdown(&format!("What else differs on machine {}", at + 1), &one.environment);
    }
    out
}

fn legend(machines: &MachineTable) -> Vec<String> {
    let named = machines.machines.iter().enumerate();
    named.map(|(at, one)| format!("Machine {}: {} (run {})", at + 1, one.name, enumerate(&one.runs))).collect()
}

/// The names of the columns of [`ratios`] and [`said`].
fn columns(machines: usize) -> Vec<String> {
    let together: &[&str] = if machines == 2 { &["2 / 1"] } else { &["mean over machines", "another machine"] };
    let names = (1..=machines).map(|number| format!("machine {number}"));
    names.chain(together.iter().chain(&["machines"]).map(|name| (*name).to_owned())).collect()
}

/// The change on each machine; with its interval where there are two.
fn ratios(figure: &MachineFigure) -> Vec<String> {
    let shown = |ratio: Estimate| match figure.machines.len() {
        2 => ratio.change().signed_interval(),
        _ => Change { bounds: None, ..ratio.change() }.short(),
    };
    figure.machines.iter().map(|one| one.map_or("–".to_owned(), |one| shown(one.ratio))).collect()
}

fn said(figure: &MachineFigure) -> Vec<String> {
    let interval = |estimate: Option<Estimate>| estimate.map_or("–".to_owned(), |one| one.change().signed_interval());
    let together = match figure.machines.len() {
        2 => vec![interval(figure.second_to_first)],
        _ => vec![figure.short.clone(), interval(figure.another_machine)],
    };
    let differ = if figure.machines_differ { "differ" } else { "" };
    together.into_iter().chain([differ.to_owned()]).collect()
}
