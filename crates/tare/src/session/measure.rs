//! From a plan to its record: the servers are built, then measured, in a new run or in one that was interrupted.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use tare_analysis::rfc3339;
use tare_analysis::stop::Looks;
use tare_plan::Plan;
use tare_plan::estimate::run_time;
use tare_record::store::{InterruptedRun, RECORD_FILE, RunWriter, allot_run_dir, open_run_record};
use tare_record::{RunHeader, RunRecord};
use tare_remote::{AgentsOrder, LoadAgents, PodOrder};
use tare_run::load_host::{LoadMachines, agent_places};
use tare_run::preflight::environment;
use tare_run::prepare::prepare;
use tare_run::progress::Progress;
use tare_run::server_host::ServerMachine;
use tare_run::{RunError, RunInputs};
use tare_sys::clock;

use super::presentation::PROFILE_DIR;
use super::{EndedRun, Session, can_go_on, is_interrupted, known_facts};
use crate::git;
use crate::progress::RunView;
use crate::recorded_command::recorded_command;
use crate::workspace::shown_path;
use crate::{console, interrupt, plan_text};

/// Agents in pods live for this many times the time of the plan: failed starts are replaced, and may exceed the budget.
const LONGEST_FACTOR: u32 = 3;

enum RecordTarget<'a> {
    New,
    ProfilesOf(&'a EndedRun),
    Rest(Box<InterruptedRun>, PathBuf),
}

impl Session<'_> {
    pub fn measure(&self, plan: &Plan) -> anyhow::Result<EndedRun> {
        self.build_and_measure(plan, RecordTarget::New)
    }

    pub fn measure_rest(&self, plan: &Plan, run: InterruptedRun, run_dir: &Path) -> anyhow::Result<EndedRun> {
        self.build_and_measure(plan, RecordTarget::Rest(Box::new(run), run_dir.to_owned()))
    }

    /// The profiling starts that a plan asks for. They have a record of their own: a failure costs no scored figure.
    pub(super) fn measure_profiles(&self, plan: &Plan, scored: &EndedRun) -> anyhow::Result<Option<RunRecord>> {
        let Some(plan) = plan.profiling().filter(|_| !is_interrupted(&scored.record)) else { return Ok(None) };
        console::print_text("\n  scored; now the profiling starts, which say why\n");
        let measured = self.build_and_measure(&plan, RecordTarget::ProfilesOf(scored));
        measured.map(|measured| Some(measured.record))
    }

    fn build_and_measure(&self, plan: &Plan, target: RecordTarget<'_>) -> anyhow::Result<EndedRun> {
        let pods = self.agents.pods();
        let measured = self.measure_from(plan, target, &pods);
        pods.left.take().iter().for_each(|left| console::print_note(&format!("  {left}")));
        measured
    }

    fn measure_from(&self, plan: &Plan, target: RecordTarget<'_>, pods: &PodOrder) -> anyhow::Result<EndedRun> {
        let cancelled = &interrupt::flag()?;
        let remote_host = known_facts::connect(plan)?;
        let host = remote_host.as_ref().map(|host| host as &dyn ServerMachine);
        tare_run::check_plan(plan, host)?;
        console::print_text(&plan_text::plan_headline(plan, console::terminal_width()));
        let mut view = RunView::new(self.global.color);
        let catalog = self.workspace.catalog.as_ref();
        // The programs of the others were built for the run. Building them again could change them.
        let is_new = matches!(target, RecordTarget::New);
        let launches = &prepare(plan, catalog, cancelled, &mut |line| view.show_step(line), host, is_new)?;
        let agents = start_agents(plan, pods, cancelled, &mut view)?;
        let load = agents.as_ref().map(|agents| agents as &dyn LoadMachines);
        let looks = RefCell::new(Looks::default());
        // Only after everything is built and every agent is there, so that a run that cannot begin leaves no folder.
        let measured = self.folders(&target).and_then(|(run_dir, folder)| {
            let inputs = RunInputs {
                launches,
                host,
                agents: load,
                contract: &self.workspace.contract,
                logs: &folder.join("logs"),
                profiles: &run_dir.join("profiles"),
                cancelled: Arc::clone(cancelled),
                reference: Some(std::env::current_exe().context("tare's own program file is gone")?),
                reasons_to_stop: &|record: &RunRecord| looks.borrow_mut().reasons_to_stop(record),
            };
            let record = self.record_run(plan, &inputs, target, (&run_dir, &folder), &mut view)?;
            Ok(EndedRun { record, run_dir, profiled: None })
        });
        drop(view);
        measured
    }

    /// The folder of the run, and the one in which the record and the logs of its servers lie: those of profiling starts
    /// have the same names as scored ones.
    fn folders(&self, target: &RecordTarget<'_>) -> anyhow::Result<(PathBuf, PathBuf)> {
        let run_dir = match target {
            RecordTarget::New => {
                // The ids of runs begin with today, in UTC.
                let id = allot_run_dir(&self.global.dir, &rfc3339(clock::wall_unix_ns())[..10])?;
                self.global.hide_dir_from_git();
                self.global.dir.join("runs").join(id)
            }
            RecordTarget::ProfilesOf(scored) => return Ok((scored.run_dir.clone(), scored.run_dir.join(PROFILE_DIR))),
            RecordTarget::Rest(_, run_dir) => run_dir.clone(),
        };
        Ok((run_dir.clone(), run_dir))
    }

    fn record_run(
        &self,
        plan: &Plan,
        inputs: &RunInputs<'_>,
        target: RecordTarget<'_>,
        (run_dir, folder): (&Path, &Path),
        view: &mut RunView,
    ) -> anyhow::Result<RunRecord> {
        view.line(&format!("  record {}", shown_path(run_dir)));
        let mut observer = |progress: &Progress<'_>| view.show(progress);
        let (id, result) = match target {
            RecordTarget::Rest(run, _) => (run.record.header.id.clone(), tare_run::resume(*run, inputs, &mut observer)),
            RecordTarget::New => {
                let id = run_dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let header = header(plan, inputs, &id);
                let writer = RunWriter::create(&self.global.dir, &header)?;
                (id, tare_run::run(header, writer, inputs, &mut observer))
            }
            RecordTarget::ProfilesOf(scored) => {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make the folder {}", folder.display()))?;
                let header = header(plan, inputs, &scored.record.header.id);
                let writer = RunWriter::create_file(&folder.join(RECORD_FILE), &header)?;
                // Nothing is left of the run that asked for them: its scored starts are all there.
                return Ok(tare_run::run(header, writer, inputs, &mut observer)?);
            }
        };
        let file = run_dir.join(RECORD_FILE);
        result.map_err(|error| {
            let has_begun = || open_run_record(&file).is_ok_and(|record| can_go_on(&record));
            let stays = !matches!(error, RunError::Resume { .. }) && has_begun();
            let error = anyhow::Error::from(error);
            if !stays {
                return error;
            }
            let run = self.global.shown_run(&file, &id);
            error.context(format!(
                "the run stopped; what was measured stands: tare report {run}; to go on: tare run --resume {run}"
            ))
        })
    }
}

/// Starts the agents of a plan; `None` where this process makes the load.
fn start_agents(
    plan: &Plan,
    pods: &PodOrder,
    cancelled: &Arc<AtomicBool>,
    view: &mut RunView,
) -> anyhow::Result<Option<LoadAgents>> {
    let places = &agent_places(plan)?;
    if places.is_empty() {
        return Ok(None);
    }
    let cpus = plan.machine.load_cpus.parse().map_err(anyhow::Error::msg);
    let local_cpus = &cpus.context("the cores of the generator")?;
    let order = AgentsOrder { places, pods, longest: run_time(plan) * LONGEST_FACTOR, local_cpus };
    Ok(Some(LoadAgents::start(&order, cancelled, &mut |text| view.show_step(text))?))
}

fn header(plan: &Plan, inputs: &RunInputs<'_>, id: &str) -> RunHeader {
    RunHeader {
        id: id.to_owned(),
        started_unix_ns: clock::wall_unix_ns(),
        command: recorded_command(),
        tare_version: env!("CARGO_PKG_VERSION").to_owned(),
        git_revision: git_revision(),
        plan_hash: plan.hash(),
        plan: plan.clone(),
        environment: environment::capture_environment(plan, inputs.launches, inputs.host, inputs.agents),
    }
}

/// The revision of the working directory, marked where it has changes; none outside a repository or without git.
fn git_revision() -> Option<String> {
    git::run_git(Path::new("."), &["describe", "--always", "--dirty", "--abbrev=12"]).filter(|text| !text.is_empty())
}
