//! Agents for tests: functions at the other ends of pipes.

use std::io::{PipeReader, PipeWriter, Write, empty, pipe};
use std::thread;

use tare_load::Cancel;
use tare_run::RunError;

use super::group::AgentGroup;
use super::pipes::{AgentLink, message_channel};
use crate::protocol::{
    Greeting, LONGEST_ORDER, LONGEST_REPORT, Order, Report, Task, Version, encode_frame, read_frame,
};

/// What an agent does with the pipes of its orders and its reports.
pub(crate) type FakeAgent = Box<dyn FnOnce(PipeReader, PipeWriter) + Send>;

/// Agents with these behaviours, named `agent 1` and so on, before their greeting.
pub(crate) fn started(behaviours: Vec<FakeAgent>) -> AgentGroup {
    let (messages, inbox) = message_channel();
    let (mut names, mut links) = (Vec::new(), Vec::new());
    for (agent, behaviour) in behaviours.into_iter().enumerate() {
        let ((orders, to_agent), (from_agent, reports)) = (pipe().unwrap(), pipe().unwrap());
        thread::spawn(move || behaviour(orders, reports));
        let pipes = (to_agent, from_agent, empty());
        links.push(AgentLink::from_pipes(agent, pipes, &messages, Box::new(|| None)).unwrap());
        names.push(format!("agent {}", agent + 1));
    }
    AgentGroup::new(names, links, Vec::new(), inbox)
}

/// A group with one agent of this behaviour.
pub(crate) fn group_of(agent: FakeAgent) -> Result<AgentGroup, RunError> {
    let mut group = started(vec![agent]);
    group.greet(&Cancel::default())?;
    Ok(group)
}

pub(crate) fn greeting(version: Version) -> Report {
    Report::Greeting(Greeting { version, host: "bench".to_owned() })
}

/// A version that no tare has.
pub(crate) fn other_version() -> Version {
    Version { protocol: 7, tare: "0.9.0".to_owned() }
}

pub(crate) fn send(reports: &mut PipeWriter, report: &Report) {
    let _ = reports.write_all(&encode_frame(report, LONGEST_REPORT).unwrap());
}

/// Answers the hello, and each task with what `answer` returns for it. Ends when that is `None`.
pub(crate) fn agent_that_answers(answer: impl Fn(u64, Task) -> Option<Report> + Send + 'static) -> FakeAgent {
    Box::new(move |mut orders, mut reports| {
        while let Ok(Some(order)) = read_frame(&mut orders, LONGEST_ORDER) {
            let report = match order {
                Order::Hello(_) => Some(greeting(Version::own())),
                Order::Task { number, task } => answer(number, task),
                _ => continue,
            };
            let Some(report) = report else { return };
            send(&mut reports, &report);
        }
    })
}

#[test]
fn the_answer_to_an_earlier_task_is_skipped() {
    use crate::protocol::{Answer, LoadTask, answer_of};
    let agent =
        agent_that_answers(|number, _| Some(Report::Answer { number, answer: Ok(Answer::Opened(number as u32)) }));
    let mut group = group_of(agent).unwrap();
    let close = || Task::Load(LoadTask::Close);
    assert_eq!(group.call_first(close(), None, answer_of!(Opened)).unwrap(), 1);
    group.send_task(0, close(), false);
    assert_eq!(group.call_first(close(), None, answer_of!(Opened)).unwrap(), 3, "not the answer to the second");
    group.check().unwrap();
}

#[test]
fn an_answer_of_another_kind_and_one_to_no_task_are_refused() {
    use crate::protocol::{Answer, LoadTask, answer_of};
    for (more, says) in [(0, "its answer belongs to another order"), (1, "a report at the wrong time")] {
        let answer = move |number, _| Some(Report::Answer { number: number + more, answer: Ok(Answer::Done) });
        let mut group = group_of(agent_that_answers(answer)).unwrap();
        let why = group.call_first(Task::Load(LoadTask::Close), None, answer_of!(Opened)).unwrap_err().to_string();
        assert!(why.starts_with("agent agent 1: ") && why.contains(says), "{why}");
    }
}
