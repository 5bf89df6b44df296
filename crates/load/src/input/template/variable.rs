//! The kinds of variables: columns of feeds, counters, and values from the seed.

use std::collections::BTreeSet;

use tare_units::nearest_name;

use crate::input::feed::Feed;

/// The meaning of a variable in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Column {
        feed: usize,
        column: usize,
    },
    /// A value of the user that sends the request.
    OfUser(usize),
    Counter(usize),
    /// A whole number of this range, random at each place.
    Number {
        from: i64,
        to: i64,
    },
    /// This number of hexadecimal digits, random at each place.
    Hex(usize),
    /// A random UUID (RFC 9562, version 4), another at each place.
    Uuid,
}

/// The longest `{{hex:…}}`.
const MAX_HEX_DIGITS: usize = 1024;

/// The values that each user has after its set-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UserColumns {
    pub(crate) names: Vec<String>,
    /// The column behind them contains the value of the `Cookie` header.
    pub(crate) has_cookies: bool,
}

/// The known names while templates are parsed.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) feeds: &'a [Feed],
    pub(crate) users: UserColumns,
    /// Values of users that a template contains.
    pub(crate) used: BTreeSet<usize>,
    /// The first value of each counter. Counters with the same first value are one.
    pub(crate) counters: Vec<u64>,
}

/// What is wrong with a name, and what to write instead.
type Wrong = (String, String);

impl<'a> Scope<'a> {
    pub(crate) const fn of(feeds: &'a [Feed], users: UserColumns) -> Self {
        Self { feeds, users, used: BTreeSet::new(), counters: Vec::new() }
    }

    pub(crate) fn resolve(&mut self, name: &str) -> Result<Variable, Wrong> {
        if let Some(column) = self.users.names.iter().position(|own| own == name) {
            self.used.insert(column);
            return Ok(Variable::OfUser(column));
        }
        if let Some(column) = self.column(name)? {
            return Ok(column);
        }
        let (kind, argument) = name.split_once(':').map_or((name, None), |(kind, rest)| (kind, Some(rest.trim())));
        match kind.trim() {
            "counter" => self.counter(argument),
            "random" => number(argument),
            "hex" => hex(argument),
            "uuid" if argument.is_none() => Ok(Variable::Uuid),
            _ => Err(self.unknown(name)),
        }
    }

    fn column(&self, name: &str) -> Result<Option<Variable>, Wrong> {
        let found = self.feeds.iter().enumerate().filter_map(|(feed, table)| {
            table.columns().iter().position(|column| column == name).map(|column| (feed, column))
        });
        let found: Vec<(usize, usize)> = found.collect();
        match found[..] {
            [] => Ok(None),
            [(feed, column)] => Ok(Some(Variable::Column { feed, column })),
            [(one, _), (other, _), ..] => {
                let [one, other] = [one, other].map(|feed| &self.feeds[feed].table.name);
                Err((format!("`{name}` is a column of {one} and of {other}"), "rename one of them".to_owned()))
            }
        }
    }

    fn counter(&mut self, argument: Option<&str>) -> Result<Variable, Wrong> {
        let from = match argument {
            None => 0,
            Some(text) => text.parse().map_err(|_| {
                (format!("`{text}` is no number to count from"), "write {{counter}} or {{counter:1000}}".to_owned())
            })?,
        };
        let slot = self.counters.iter().position(|counter| *counter == from).unwrap_or_else(|| {
            self.counters.push(from);
            self.counters.len() - 1
        });
        Ok(Variable::Counter(slot))
    }

    /// The most similar name, and all columns.
    fn unknown(&self, name: &str) -> Wrong {
        let of_feeds = self.feeds.iter().flat_map(Feed::columns);
        let columns: Vec<&str> = of_feeds.chain(&self.users.names).map(String::as_str).collect();
        let near = nearest_name(name, columns.iter().copied().chain(["counter", "random", "hex", "uuid"]));
        let near = near.map(|known| format!("did you mean {{{{{known}}}}}? ")).unwrap_or_default();
        let columns = match columns[..] {
            [] => "there is no feed".to_owned(),
            _ if self.users.names.is_empty() => format!("the feeds have the columns {}", columns.join(", ")),
            _ => format!("the feeds and the set-up have {}", columns.join(", ")),
        };
        let remedy = format!(
            "{near}{columns}, and {{{{counter}}}}, {{{{random:1..6}}}}, {{{{hex:16}}}}, {{{{uuid}}}} are always there; \
             for the braces themselves write \\{{{{"
        );
        (format!("there is no variable `{name}`"), remedy)
    }
}

fn number(argument: Option<&str>) -> Result<Variable, Wrong> {
    let wrong = || ("it has no range of whole numbers".to_owned(), "write {{random:1..6}}, ends included".to_owned());
    let (from, to) = argument.and_then(|range| range.split_once("..")).ok_or_else(wrong)?;
    let (from, to): (i64, i64) =
        from.trim().parse().ok().zip(to.trim().parse().ok()).filter(|(from, to)| from <= to).ok_or_else(wrong)?;
    Ok(Variable::Number { from, to })
}

fn hex(argument: Option<&str>) -> Result<Variable, Wrong> {
    let digits = argument.and_then(|digits| digits.parse().ok()).filter(|digits| (1..=MAX_HEX_DIGITS).contains(digits));
    let wrong = || {
        ("it has no number of digits".to_owned(), format!("write {{{{hex:16}}}}, with 1 to {MAX_HEX_DIGITS} digits"))
    };
    digits.map(Variable::Hex).ok_or_else(wrong)
}
