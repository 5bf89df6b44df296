//! The checks of one request, sorted by the time at which they can be decided.

use std::ops::RangeInclusive;
use std::sync::Arc;

use tare_sample::ErrorClass;
use tare_wire::grpc;
use tare_wire::http::Head;

use super::{Check, HeaderRule, Rule, Whole};
use crate::problem::{Problem, escape};

/// A wrong body may be this much longer, in bytes, than the longest correct one. Beyond that it is not read.
const MAX_EXCESS_BYTES: u64 = 64 * 1024;
/// The same limit for a body of any length.
const MAX_ANY_BYTES: u64 = 1 << 30;

/// The checks that an answer must pass to count as a success.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expectation {
    statuses: Vec<RangeInclusive<u16>>,
    headers: Vec<(String, HeaderRule)>,
    pub(crate) exact: Option<Arc<[u8]>>,
    /// `None` for a body of any length.
    lengths: Option<RangeInclusive<u64>>,
    /// The status of a call of gRPC; `None` for other requests.
    pub(crate) grpc: Option<grpc::Code>,
    /// Checks that need the whole body.
    pub(crate) whole: Vec<Whole>,
    /// Whether the body may be encoded, and a check needs it as it was before.
    pub(crate) decodes: bool,
    /// Whether redirects are followed that no check of the status allows.
    pub(crate) follows: bool,
    /// Whether headers and body are kept, for the variables that a set-up fills.
    pub(crate) keeps_answer: bool,
}

impl Expectation {
    /// Combines these checks. Without a check of the status, any from 200 to 299 is correct.
    pub(crate) fn of(checks: &[Check]) -> Self {
        let mut all = Self::default();
        for Check(rule) in checks {
            match rule.clone() {
                Rule::Status(codes) => all.statuses.push(codes),
                Rule::Header { name, value } => all.headers.push((name, value)),
                Rule::Exact(bytes) => {
                    all.limit(bytes.len() as u64..=bytes.len() as u64);
                    // Another one is of the same length, or no body fits; so it is the body if that contains it.
                    all.whole.extend(all.exact.replace(bytes).map(Whole::Contains));
                }
                Rule::Length(bytes) => all.limit(bytes),
                Rule::Grpc(code) => all.grpc = Some(code),
                Rule::Whole(whole) => all.whole.push(whole),
            }
        }
        if all.statuses.is_empty() {
            all.statuses.push(if all.grpc.is_some() { 200..=200 } else { 200..=299 });
        }
        all
    }

    fn limit(&mut self, lengths: RangeInclusive<u64>) {
        let before = self.lengths.take().unwrap_or(0..=u64::MAX);
        self.lengths = Some(*before.start().max(lengths.start())..=*before.end().min(lengths.end()));
    }

    /// Whether a check needs the fields of the head.
    pub(crate) const fn reads_headers(&self) -> bool {
        !self.headers.is_empty() || self.grpc.is_some() || self.decodes
    }

    /// Whether the fields of a head of this status are read: by a check, for a set-up, or to say where it leads.
    pub(crate) fn reads_fields_of(&self, status: u16) -> bool {
        self.reads_headers() || self.keeps_answer || !self.allows(status)
    }

    /// Whether a check needs the body.
    pub(crate) fn reads_body(&self) -> bool {
        self.exact.is_some() || !self.whole.is_empty() || self.lengths.is_some()
    }

    /// Where an answer leads that is a redirect to be followed.
    pub(crate) fn followed_location<'a>(&self, head: &'a Head<'_>) -> Option<&'a [u8]> {
        let is_followed = self.follows && is_followed(head.status) && !self.allows(head.status);
        if is_followed { head.header_value("location") } else { None }
    }

    fn allows(&self, status: u16) -> bool {
        self.statuses.iter().any(|codes| codes.contains(&status))
    }

    /// What is wrong with the head, the status first.
    pub(crate) fn judge_head(&self, head: &Head<'_>) -> Option<Problem> {
        if !self.allows(head.status) {
            let location = head.header_value("location").filter(|_| is_followed(head.status));
            let leads = location.map_or(String::new(), |location| {
                format!("; it leads to \"{}\", and {}", escape(location), self.why_not_followed(head.status))
            });
            let text = format!("status {} instead of {}{leads}", head.status, self.wanted_statuses());
            return Some(Problem::new(ErrorClass::Status, text));
        }
        self.headers.iter().find_map(|(name, rule)| rule.judge(name, head.header_value(name)))
    }

    /// Why a redirect of this status is not followed, and what to do.
    fn why_not_followed(&self, status: u16) -> String {
        if self.keeps_answer {
            return format!(
                "a set-up follows no redirects: accept the status (expect = {{ status = {status} }}), and write the \
                 request to which it leads below"
            );
        }
        format!(
            "redirects are not followed: load that URL, follow them (--follow), or accept the status (--check 'status \
             {status}')"
        )
    }

    /// What is wrong with the length of a complete body.
    pub(crate) fn judge_length(&self, bytes: u64) -> Option<Problem> {
        let lengths = self.lengths.as_ref().filter(|lengths| !lengths.contains(&bytes))?;
        let (from, to) = (lengths.start(), lengths.end());
        let wanted = if from == to { from.to_string() } else { format!("{from} to {to}") };
        Some(Problem::new(ErrorClass::Validation, format!("body of {bytes} bytes instead of {wanted}")))
    }

    /// Whether a body of this length is so long that it need not be read to its end. That of a redirect which is followed may have
    /// any length.
    pub(crate) fn is_exceeded_by(&self, bytes: u64, is_followed: bool) -> bool {
        let (from, to) = self.lengths.clone().unwrap_or(0..=u64::MAX).into_inner();
        let most =
            if to < u64::MAX && !is_followed { to.saturating_add(MAX_EXCESS_BYTES) } else { MAX_ANY_BYTES.max(from) };
        bytes > most
    }

    fn wanted_statuses(&self) -> String {
        let each = self.statuses.iter().map(|codes| match (codes.start(), codes.end()) {
            (from, to) if from == to => from.to_string(),
            (from, to) => format!("{from} to {to}"),
        });
        each.collect::<Vec<_>>().join(" or ")
    }
}

/// Whether an answer of this status leads to another request.
const fn is_followed(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

impl HeaderRule {
    fn judge(&self, name: &str, found: Option<&[u8]>) -> Option<Problem> {
        let (fits, wanted) = match (self, found) {
            (Self::Present, found) => (found.is_some(), String::new()),
            (Self::Is(value), found) => (found == Some(value.as_bytes()), format!(" instead of \"{value}\"")),
            (Self::Matches(regex), found) => {
                (found.is_some_and(|found| regex.is_match(found)), format!(" and does not match {regex}"))
            }
        };
        let found = found.map_or("absent".to_owned(), |value| format!("\"{}\"", escape(value)));
        (!fits).then(|| Problem::new(ErrorClass::Validation, format!("header {name} is {found}{wanted}")))
    }
}
