//! Agents of a run for tests: functions at the other ends of pipes.

use std::io::{PipeReader, PipeWriter, Write, empty, pipe};
use std::thread;

use crate::{Greeting, LONGEST_ORDER, Order, OrderKind, PROTOCOL, Report, ReportKind, encode_frame, read_frame};

use super::client::{AgentClient, AgentTask};
use super::pipes::{AgentLink, message_channel};

/// What an agent does with the pipes of its orders and its reports.
pub(crate) type FakeAgent = Box<dyn FnOnce(PipeReader, PipeWriter) + Send>;

/// A client of an agent with this behaviour.
pub(crate) fn fake_client(task: AgentTask, agent: FakeAgent) -> AgentClient {
    let ((orders, to_agent), (from_agent, reports)) = (pipe().unwrap(), pipe().unwrap());
    thread::spawn(move || agent(orders, reports));
    let (messages, inbox) = message_channel();
    AgentClient::new(task, AgentLink::from_pipes(0, to_agent, from_agent, empty(), &messages).unwrap(), inbox)
}

/// Answers the hello, and each order of a run with what `answer` returns for its number. Ends when that is `None`.
pub(crate) fn agent_that_answers(answer: impl Fn(u64) -> Option<ReportKind> + Send + 'static) -> FakeAgent {
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
