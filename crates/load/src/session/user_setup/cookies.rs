//! The cookies of one user during its set-up. All of them go to every request: there is one server.

/// Names and values, in the order in which they were first set.
#[derive(Debug, Default)]
pub(super) struct Cookies(Vec<(String, String)>);

impl Cookies {
    /// Takes the `Set-Cookie` headers of an answer. One that has ended is removed.
    ///
    /// # Source
    /// RFC 6265, section 5.2.
    pub(super) fn take(&mut self, headers: &[(String, Vec<u8>)]) {
        for (_, line) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")) {
            let line = String::from_utf8_lossy(line);
            let mut parts = line.split(';');
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            let (name, value) = (name.trim(), value.trim());
            self.0.retain(|(own, _)| own != name);
            if !parts.any(has_ended) && !line.chars().any(char::is_control) {
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

/// Whether an attribute says that the cookie is to be removed. A date is one only of the year 1970, which servers use for that.
fn has_ended(attribute: &str) -> bool {
    let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
    match name.trim().to_ascii_lowercase().as_str() {
        "max-age" => value.trim().parse::<i64>().is_ok_and(|seconds| seconds <= 0),
        "expires" => value.contains("1970"),
        _ => false,
    }
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
}
