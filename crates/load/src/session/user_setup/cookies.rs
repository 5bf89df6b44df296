//! The cookies of one user during its set-up. All of them go to every request: there is one server.

use tare_sys::clock;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Names and values, in the order in which they were first set.
#[derive(Debug, Default)]
pub(super) struct Cookies(Vec<(String, String)>);

impl Cookies {
    /// Takes the `Set-Cookie` headers of an answer (RFC 6265, section 5.2). One that has ended is removed.
    pub(super) fn take(&mut self, headers: &[(String, Vec<u8>)]) {
        for (_, line) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let line = String::from_utf8_lossy(line);
            let mut parts = line.split(';');
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            let (name, value) = (name.trim(), value.trim());
            self.0.retain(|(own, _)| own != name);
            if !have_ended(parts) && !line.chars().any(char::is_control) {
                self.0.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    /// The value of the `Cookie` header; empty without cookies.
    pub(super) fn header(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    }

    /// Adds them to the headers of a request, behind those that it has of its own.
    pub(super) fn add_to(&self, headers: &mut Vec<(String, String)>) {
        if self.0.is_empty() {
            return;
        }
        match headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
            Some((_, own)) => *own = format!("{own}; {}", self.header()),
            None => headers.push(("Cookie".to_owned(), self.header())),
        }
    }
}

/// Whether the attributes of a cookie say that it has ended. `Max-Age` wins over a date.
fn have_ended<'a>(attributes: impl Iterator<Item = &'a str>) -> bool {
    let (mut max_age, mut end) = (None, None);
    for attribute in attributes {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "max-age" => max_age = value.trim().parse::<i64>().ok().or(max_age),
            "expires" => end = unix_s(value).or(end),
            _ => {}
        }
    }
    let is_past = |end: i64| end <= (clock::wall_unix_ns() / 1_000_000_000) as i64;
    max_age.map_or_else(|| end.is_some_and(is_past), |seconds| seconds <= 0)
}

/// The seconds from 1970 (UTC) to a date in any of the forms that servers write; `None` where it is none.
///
/// # Source
/// RFC 6265, section 5.1.1. Days: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn unix_s(date: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for word in date.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != ':') {
        match word.parse::<i64>() {
            Ok(number) if word.len() <= 2 && day.is_none() => day = Some(number),
            Ok(number) if word.len() <= 4 => year = year.or(Some(number)),
            _ if word.contains(':') => time = time.or_else(|| second_of_day(word)),
            _ => month = month.or_else(|| MONTHS.iter().position(|name| word.to_ascii_lowercase().starts_with(name))),
        }
    }
    let year = match year? {
        short @ 70..=99 => short + 1900,
        short @ 0..=69 => short + 2000,
        whole => whole,
    };
    // Their year begins in March.
    let (year, month) = match month? as i64 {
        before @ 0..=1 => (year - 1, before + 10),
        month => (year, month - 2),
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day? - 719_469;
    Some(days * 86_400 + time?)
}

fn second_of_day(time: &str) -> Option<i64> {
    let mut parts = time.split(':').map(|part| part.parse::<u8>().ok().map(i64::from));
    Some(parts.next()?? * 3600 + parts.next()?? * 60 + parts.next()??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_replaced_removed_and_sent_behind_those_of_the_request() {
        let mut cookies = Cookies::default();
        let set =
            |cookies: &mut Cookies, line: &str| cookies.take(&[("set-cookie".to_owned(), line.as_bytes().into())]);
        for line in ["a=1; Path=/; HttpOnly", "b = x=y ", "nothing", "a=2", "c=3", "d=4"] {
            set(&mut cookies, line);
        }
        assert_eq!(cookies.header(), "b=x=y; a=2; c=3; d=4");
        set(&mut cookies, "c=; Max-Age=0");
        set(&mut cookies, "d=; expires=Thu, 01 Jan 1970 00:00:00 GMT");
        let mut headers = vec![("cookie".to_owned(), "own=1".to_owned())];
        cookies.add_to(&mut headers);
        assert_eq!(headers, [("cookie".to_owned(), "own=1; b=x=y; a=2".to_owned())]);
        let mut none = Vec::new();
        Cookies::default().add_to(&mut none);
        cookies.add_to(&mut none);
        assert_eq!(none, [("Cookie".to_owned(), "b=x=y; a=2".to_owned())]);
    }

    #[test]
    fn a_cookie_ends_at_its_date_unless_its_age_says_otherwise() {
        for (attributes, has_ended) in [
            ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", true),
            ("expires = Mon, 31-Dec-2001 23:59:59 GMT", true),
            ("Expires=Fri, 01-Jan-90 00:00:00 GMT; Path=/", true),
            ("Expires=Sun Nov  6 08:49:37 1994", true),
            ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", false),
            ("Expires=Fri, 31-Dec-69 23:59:59 GMT", false),
            ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", false),
            ("Max-Age=0; Expires=Fri, 31 Dec 9999 23:59:59 GMT", true),
            ("Max-Age=soon; Path=/1970", false),
            ("Expires=99999999999999999999 Jan 1 0:0:0; Expires=1:2:3", false),
            ("Expires=0", false),
        ] {
            assert_eq!(have_ended(attributes.split(';')), has_ended, "{attributes}");
        }
        let seconds = ["1 Jan 1970 00:00:00", "29 Feb 2000 12:00:01", "Mar 1 1900 0:0:0"].map(unix_s);
        assert_eq!(seconds, [Some(0), Some(951_825_601), Some(-2_203_891_200)]);
    }
}
