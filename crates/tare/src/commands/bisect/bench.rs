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
use tare_run::RunError;

use super::search::{Comparison, CostChange};
use crate::failure::error_text;
use crate::session::{Session, is_failed_build};
use crate::workspace::shown_path;
use crate::{console, interrupt};

pub struct ReleaseBench<'a> {
    pub server: String,
    pub releases: Vec<String>,
    pub currency: Currency,
    pub flags: &'a Options,
    /// Its catalog knows the releases.
    pub session: &'a Session<'a>,
}

impl ReleaseBench<'_> {
    /// The plan that compares `other` with `reference` until the limit is judged.
    pub fn comparison_plan(&self, reference: usize, other: usize, limit: f64) -> anyhow::Result<Plan> {
        let limit = RatioLimit::worse_by(self.currency, limit).map_err(anyhow::Error::msg)?;
        let mut plan = self.plan(reference, other, Vec::new(), self.flags)?;
        plan.set_limits(vec![limit], Source::Flag);
        Ok(plan)
    }

    /// The plan of two releases, and of other servers beside them, with one scenario.
    pub fn plan(
        &self,
        reference: usize,
        other: usize,
        pinned: Vec<(String, String)>,
        flags: &Options,
    ) -> anyhow::Result<Plan> {
        let (before, after) = (&self.releases[reference], &self.releases[other]);
        let mut suite = Suite::default();
        suite.suite.question = Some(format!("Does {} cost more in {after} than in {before}?", self.server));
        suite.run.versions = Some(vec![after.clone()]);
        suite.run.latency = (!self.currency.is_latency()).then(tare_units::Span::default);
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

    /// Measures, and writes the report into the folder of the run; `None` if a release cannot be built.
    pub fn measure(&self, plan: &Plan) -> anyhow::Result<Option<Summary>> {
        if interrupt::is_raised(&*interrupt::flag()?) {
            return Err(RunError::Interrupted.into());
        }
        let measured = match self.session.measure(plan) {
            Ok(measured) => measured,
            Err(error) if is_failed_build(&error) => {
                console::print_note(&format!("  {}", error_text(&error)));
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let (record, run_dir) = (&measured.record, &measured.run_dir);
        let summary = summarize(record);
        write_all(&summary, record, run_dir)?;
        console::print_text(&format!("  page      {}\n", shown_path(&run_dir.join("report.html"))));
        if measured.is_interrupted() {
            return Err(RunError::Interrupted.into());
        }
        Ok(Some(summary))
    }

    /// Compares `other` with `reference`, and prints what comes out. A release that cannot be built is no error.
    pub fn compare(&self, reference: usize, other: usize, limit: f64) -> anyhow::Result<Comparison> {
        let plan = self.comparison_plan(reference, other, limit)?;
        let (before, after) = (&self.releases[reference], &self.releases[other]);
        console::print_text(&format!("\n{after} against {before}\n"));
        let compared = match self.measure(&plan)? {
            Some(summary) => {
                let check = summary.check.context("internal: a run with a limit has no verdict; please report this")?;
                let nothing = || Comparison::Unknown("one of the versions is not available here".to_owned());
                check.limits.first().map_or_else(nothing, |limit| of_limit(limit, &plan.stop.limits[0]))
            }
            None => Comparison::Unknown("it cannot be built".to_owned()),
        };
        let words = match &compared {
            // Where the cost fell, the release that costs more lacks the change.
            Comparison::Beyond(change) if other < reference => {
                format!("{after} does not have the change: {} beside {before}", change.text)
            }
            compared => in_words(compared, before, after),
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
