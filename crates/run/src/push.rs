//! A scenario in which the server sends: all users listen, and how late each message comes is what is measured. One slice
//! lasts as long as its messages, so that variants take turns in minutes.

use std::time::Duration;

use tare_load::Sending;
use tare_plan::plan::{Mode, SliceKind, Warmup};
use tare_plan::push::Push;
use tare_record::sample::Phase;

use crate::driver::Driver;
use crate::error::RunError;
use crate::progress::Progress;
use crate::slice::Order;

/// A server may be so much slower than its period says before its messages count as missing.
const PATIENCE: u32 = 2;

impl Driver<'_, '_, '_> {
    /// Warms up each server in turn with all users, then measures: rounds of one slice of each, in random order.
    pub fn pushed(&mut self, push: &Push) -> Result<(), RunError> {
        let plan = self.plan();
        let cores = &self.trial.cores;
        self.fleet.set_cpus(&cores.warmup);
        for member in 0..self.fleet.members.len() {
            self.warm(member)?;
        }
        self.fleet.set_cpus(&cores.server);
        if plan.mode == Mode::Profiled {
            return self.profile_pushes(push);
        }
        if let Some(slo) = &plan.slo {
            return self.capacities(slo);
        }
        let mut orders = self.orders("pushes");
        for round in 0..plan.slices.push {
            for member in orders.shuffled(0..self.fleet.members.len()) {
                self.hear(member, push, round)?;
            }
        }
        Ok(())
    }

    /// As it will be measured, and not scored: the whole cap, since what is pushed costs too little CPU to see it settle.
    fn warm(&mut self, member: usize) -> Result<(), RunError> {
        if !self.may_drive(member) {
            return Ok(());
        }
        let (Warmup::UntilSteady { cap: span, .. } | Warmup::Fixed { span, .. }) = self.plan().warmup;
        self.journal.show(&Progress::WarmingUp {
            place: self.place,
            scenario: &self.named.name,
            elapsed: Duration::ZERO,
            cap: span.0,
            steady: (0, 0),
            jit_share: None,
        });
        let order = Order { phase: Phase::Warmup, ..self.pushing(0, span.0) };
        let begin_ns = self.journal.elapsed_ns();
        self.slice(member, &order)?;
        let span_ns = self.journal.elapsed_ns() - begin_ns;
        self.warmed(member, span_ns, None)
    }

    fn hear(&mut self, member: usize, push: &Push, round: u32) -> Result<(), RunError> {
        if !self.may_drive(member) {
            return Ok(());
        }
        let plan = self.plan();
        self.announce(member, SliceKind::Push, (round + 1, plan.slices.push), None);
        let order = self.pushing(round, push.span().0 * PATIENCE + plan.load.timeout.0);
        self.whole_slice(member, &order)?;
        Ok(())
    }

    /// All users listen.
    pub fn pushing(&self, round: u32, length: Duration) -> Order {
        Order {
            length,
            discard: Duration::ZERO,
            seed: self.plan().seed,
            sending: Sending::Exact,
            ..self.order(SliceKind::Push, round, 0.0)
        }
    }
}
