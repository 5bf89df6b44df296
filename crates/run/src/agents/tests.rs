//! Agents of a run for tests: functions at the other ends of pipes.

use std::io::{PipeReader, PipeWriter, Write, empty, pipe};
use std::thread;

use tare_agent::{Greeting, LONGEST_ORDER, Order, OrderKind, PROTOCOL, Report, ReportKind, encode_frame, read_frame};

use super::link::{AgentLink, inbox};
use super::talk::{AgentTask, Talk};

/// What an agent does with the pipes of its orders and its reports.
pub(crate) type FakeAgent = Box<dyn FnOnce(PipeReader, PipeWriter) + Send>;

/// The conversation with an agent of this behaviour.
pub(crate) fn talk_with(task: AgentTask, agent: FakeAgent) -> Talk {
    let ((orders, to_agent), (from_agent, reports)) = (pipe().unwrap(), pipe().unwrap());
    thread::spawn(move || agent(orders, reports));
    let (heard, inbox) = inbox();
    Talk::new(task, AgentLink::over(0, to_agent, from_agent, empty(), &heard).unwrap(), inbox)
}

/// Answers the greeting, and every order of a run with `answer`, which gets its number. Ends where that is nothing.
pub(crate) fn answering(answer: impl Fn(u64) -> Option<ReportKind> + Send + 'static) -> FakeAgent {
    Box::new(move |mut orders, mut reports| {
        while let Ok(Some(Order { kind: Some(order) })) = read_frame(&mut orders, LONGEST_ORDER) {
            let report = match order {
                OrderKind::Hello(_) => {
                    let (version, host) = ("0.9.0".to_owned(), "bench".to_owned());
                    Some(ReportKind::Greeting(Greeting { protocol: PROTOCOL, version, host }))
                }
                OrderKind::Servers(order) | OrderKind::Load(order) => answer(order.number),
                _ => continue,
            };
            let Some(report) = report else { return };
            let _ = reports.write_all(&encode_frame(&Report::from(report)).unwrap());
        }
    })
}
