//! The comparison of two releases of one server, as a run of its own.

use anyhow::Context;
use tare_analysis::summarize;
use tare_analysis::summary::{LimitResult, LimitVerdictKind, Summary};
use tare_plan::plan::Source;
use tare_plan::ratio_limit::RatioLimit;
use tare_plan::settings::Options;
use tare_plan::suite::{GroupSpec, Suite};
use tare_plan::{Currency, Plan, PlanError};
use tare_report::write_all;

use super::search::{Comparison, CostChange};
use crate::failure::{error_text, is_cancelled};
use crate::session::{Session, is_failed_build};
use crate::workspace::shown_path;
use crate::{console, interrupt};

/// The user stopped a run. What was measured is recorded.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Stopped;

pub struct ReleaseBench<'a> {
    pub server: String,
    pub releases: Vec<String>,
    pub currency: Currency,
    /// Settings of each run.
    pub flags: &'a Options,
    /// Its catalog knows the releases.
    pub session: &'a Session<'a>,
}

impl ReleaseBench<'_> {
    /// The plan that compares `other` with `reference` until the limit is judged.
    pub fn comparison_plan(&self, reference: usize, other: usize, limit: f64) -> anyhow::Result<Plan> {
        let limit = RatioLimit::worse_by(self.currency, limit).map_err(anyhow::Error::msg)?;
        let mut plan = self.plan(reference, other, Vec::new(), self.flags, self.currency.is_latency())?;
        plan.set_limits(vec![limit], Source::Flag);
        Ok(plan)
    }

    /// The plan of two releases, and of other servers beside them.
    ///
    /// # Errors
    /// The settings make no plan, or one of several scenarios.
    pub fn plan(
        &self,
        reference: usize,
        other: usize,
        pinned: Vec<(String, String)>,
        flags: &Options,
        needs_open_load: bool,
    ) -> anyhow::Result<Plan> {
        let (before, after) = (&self.releases[reference], &self.releases[other]);
        let mut suite = Suite::default();
        suite.suite.question = Some(format!("Does {} cost more in {after} than in {before}?", self.server));
        suite.run.versions = Some(vec![after.clone()]);
        suite.run.latency = (!needs_open_load).then(tare_units::Span::default);
        suite.groups = vec![GroupSpec {
            baseline: self.server.clone(),
            baseline_version: Some(before.clone()),
            servers: vec![self.server.clone()],
            pinned,
            ..GroupSpec::default()
        }];
        let plan = self.session.plan(&suite, flags, None)?;
        let scenarios: Vec<&str> =
            plan.groups.iter().flat_map(|group| &group.scenarios).map(|named| named.name.as_str()).collect();
        let message = format!("a bisection follows one scenario; choose with -m one of {}", scenarios.join(", "));
        anyhow::ensure!(scenarios.len() == 1, PlanError::value("--scenarios", message));
        Ok(plan)
    }

    /// Measures, and writes the report into the folder of the run.
    ///
    /// # Errors
    /// [`Stopped`] after Ctrl-C; otherwise what makes a run fail.
    pub fn measure(&self, plan: &Plan) -> anyhow::Result<Summary> {
        // Ctrl-C may come between two runs.
        if interrupt::is_raised(&*interrupt::flag()?) {
            return Err(Stopped.into());
        }
        // It may come while the servers are built, too.
        let stopped = |error| if is_cancelled(&error) { anyhow::Error::from(Stopped) } else { error };
        let measured = self.session.measure(plan).map_err(stopped)?;
        let (record, run_dir) = (&measured.record, &measured.run_dir);
        let summary = summarize(record);
        write_all(&summary, record, run_dir)?;
        console::print_text(&format!("  page      {}\n", shown_path(&run_dir.join("report.html"))));
        if measured.is_interrupted() {
            return Err(Stopped.into());
        }
        Ok(summary)
    }

    /// Compares `other` with `reference`, and prints what comes out.
    ///
    /// # Errors
    /// As [`Self::measure`]. A release that cannot be built is none.
    pub fn compare(&self, reference: usize, other: usize, limit: f64) -> anyhow::Result<Comparison> {
        let plan = self.comparison_plan(reference, other, limit)?;
        let (before, after) = (&self.releases[reference], &self.releases[other]);
        console::print_text(&format!("\n{after} against {before}\n"));
        let compared = match self.measure(&plan) {
            Ok(summary) => {
                let check = summary.check.context("internal: a run with a limit has no verdict; please report this")?;
                let nothing = || Comparison::Unknown("one of the versions is not available here".to_owned());
                check.limits.first().map_or_else(nothing, |limit| of_limit(limit, &plan.stop.limits[0]))
            }
            Err(error) if is_failed_build(&error) => {
                console::print_note(&format!("  {}", error_text(&error)));
                Comparison::Unknown("it cannot be built".to_owned())
            }
            Err(error) => return Err(error),
        };
        let words = if reference < other {
            in_words(&compared, before, after)
        } else {
            words_of_fall(&compared, before, after)
        };
        console::print_text(&format!("  {words}\n"));
        Ok(compared)
    }
}

fn of_limit(result: &LimitResult, limit: &RatioLimit) -> Comparison {
    let undecided = || Comparison::Unknown(result.reason.clone().unwrap_or_else(|| "it is not decided".to_owned()));
    let Some(ratio) = result.ratio else { return undecided() };
    let bounds = result.lo.zip(result.hi);
    // Of a currency of which more is better, the cost is the reciprocal.
    let (factor, bounds) = if limit.currency.is_worse_above() {
        (ratio, bounds)
    } else {
        (1.0 / ratio, bounds.map(|(lo, hi)| (1.0 / hi, 1.0 / lo)))
    };
    let change = CostChange { factor, bounds, text: format!("{} {}", result.short, result.label) };
    match result.verdict {
        LimitVerdictKind::Regressed => Comparison::Beyond(change),
        LimitVerdictKind::Improved | LimitVerdictKind::NoMaterialChange => Comparison::Within(change),
        LimitVerdictKind::Void | LimitVerdictKind::Undecided => undecided(),
    }
}

/// What a comparison with a release before `after` says.
fn in_words(compared: &Comparison, before: &str, after: &str) -> String {
    match compared {
        Comparison::Beyond(change) => format!("{after} has the change: {}", change.text),
        Comparison::Within(change) if change.is_below(1.0) => {
            format!("{after} costs less than {before}: {}", change.text)
        }
        Comparison::Within(change) => format!("{after} is like {before}: {}", change.text),
        Comparison::Unknown(reason) => format!("{after} is not known: {reason}"),
    }
}

/// What a comparison of an earlier release with the `last` one says: where the cost fell, the one that costs more lacks the
/// change.
fn words_of_fall(compared: &Comparison, last: &str, earlier: &str) -> String {
    match compared {
        Comparison::Beyond(change) => format!("{earlier} does not have the change: {} beside {last}", change.text),
        other => in_words(other, last, earlier),
    }
}
