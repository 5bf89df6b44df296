//! The exchange of a connection that carries one at a time, with the messages that the server has pushed for it.

use tare_sys::clock::Nanos;
use tare_wire::ws::Stamped;

use super::connection::Exchange;
use super::conversation::Push;
use super::subscription::Subscription;
use crate::recorder::Times;
use crate::recorder::missing_messages::MissingMessages;
use crate::recorder::pushed_message::PushedMessage;

/// At most one exchange: a request that waits for its answer, or a subscription.
#[derive(Debug)]
pub(crate) struct OnlyExchange {
    /// What is pushed; `None` if the server only answers.
    push: Option<Push>,
    under_way: Option<Exchange>,
    subscription: Subscription,
    /// The connection accepts no more requests.
    pub(crate) is_retired: bool,
}

impl OnlyExchange {
    /// None under way.
    pub(crate) fn new(push: Option<Push>) -> Self {
        Self { push, under_way: None, subscription: Subscription::default(), is_retired: false }
    }

    /// What is pushed; `None` if the server only answers.
    pub(crate) const fn push(&self) -> Option<Push> {
        self.push
    }

    pub(crate) fn begin(&mut self, exchange: Exchange) {
        (self.under_way, self.subscription) = (Some(exchange), Subscription::default());
    }

    /// How many exchanges are under way: none or one.
    pub(crate) fn under_way(&self) -> usize {
        usize::from(self.under_way.is_some())
    }

    /// Index of its request in the set.
    pub(crate) fn request(&self) -> Option<usize> {
        self.under_way.as_ref().map(|exchange| exchange.request)
    }

    /// Notes the status of a stream of events.
    pub(crate) const fn note_status(&mut self, status: u16) {
        if let Some(exchange) = &mut self.under_way {
            exchange.note_status(status);
        }
    }

    /// How many messages have come.
    pub(crate) const fn taken(&self) -> u64 {
        self.subscription.taken()
    }

    pub(crate) fn take(&mut self) -> Option<Exchange> {
        self.under_way.take()
    }

    pub(crate) fn next_deadline(&self) -> Option<Nanos> {
        self.under_way.as_ref().map(|exchange| exchange.deadline)
    }

    /// Takes an overdue exchange and retires the connection, whose later bytes belong to it.
    pub(crate) fn take_overdue(&mut self, now: Nanos) -> Option<Exchange> {
        self.under_way.as_ref().filter(|exchange| exchange.deadline <= now)?;
        self.is_retired = true;
        self.take_any()
    }

    /// Takes the exchange because it has failed. The rest of a subscription's messages counts as missing.
    pub(crate) fn take_any(&mut self) -> Option<Exchange> {
        let mut exchange = self.under_way.take()?;
        let missing = |push: &Push| self.subscription.missing_at_break(push, exchange.times().intended);
        exchange.missing = self.push.as_ref().map(missing);
        Some(exchange)
    }

    /// Ends a subscription correctly, and the connection with it. Returns the missing messages, and its times.
    pub(crate) fn unsubscribe(&mut self) -> Option<(MissingMessages, Times)> {
        let push = self.push?;
        let times = self.under_way.take()?.times();
        self.is_retired = true;
        Some((self.subscription.skipped(&push, times.intended), times))
    }

    /// Counts a message that was pushed at this moment or earlier. The next must arrive until `deadline`. Returns `None`
    /// without a subscription, or if the message was sent before it; with it, the exchange.
    pub(crate) fn count_message(
        &mut self,
        at: Nanos,
        sent: Option<(Nanos, Stamped)>,
        deadline: Nanos,
    ) -> Option<(PushedMessage, &Exchange)> {
        let (push, exchange) = (self.push?, self.under_way.as_mut()?);
        exchange.deadline = deadline;
        let is_earlier = sent.is_some_and(|(sent, _)| sent < exchange.times().intended);
        if is_earlier {
            return None;
        }
        let counted = self.subscription.count_message(&push, at, sent);
        Some((PushedMessage { request: exchange.times().request, ..counted }, &*exchange))
    }
}
