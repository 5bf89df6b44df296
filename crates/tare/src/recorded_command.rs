//! The command line as it stands in records and reports: as typed, but without its secrets.

use std::mem::take;

/// What stands for a secret.
const MASK: &str = "***";
/// Headers whose name contains one of these are secret, and those whose name ends in `-key`.
const SECRET_NAMES: [&str; 5] = ["authorization", "cookie", "token", "secret", "password"];

/// The command line of this process.
pub fn recorded_command() -> Vec<String> {
    without_secrets(std::env::args())
}

/// A flag whose value may be a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SecretFlag {
    #[default]
    No,
    /// `-H NAME: VALUE`.
    Header,
    /// `-a USER:PASSWORD`.
    BasicAuth,
}

impl SecretFlag {
    /// The flag of a word, and where its value begins in the word.
    fn of(word: &str) -> (Self, usize) {
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            let flag = match name {
                "header" => Self::Header,
                "basic-auth" => Self::BasicAuth,
                _ => Self::No,
            };
            return (flag, (2 + name.len() + 1).min(word.len()));
        }
        // -k and -L take no value, so others may follow in the same word.
        let Some(short) = word.strip_prefix('-').map(|short| short.trim_start_matches(['k', 'L'])) else {
            return (Self::No, 0);
        };
        let value = short.get(1..).unwrap_or_default();
        let at = word.len() - value.strip_prefix('=').unwrap_or(value).len();
        match short.chars().next() {
            Some('H') => (Self::Header, at),
            Some('a') => (Self::BasicAuth, at),
            _ => (Self::No, 0),
        }
    }

    /// A value of this flag without what is secret in it.
    fn mask(self, value: &str) -> String {
        match (self, value.split_once(':')) {
            (Self::Header, Some((name, _))) if is_secret(name) => format!("{name}: {MASK}"),
            (Self::BasicAuth, Some((user, _))) => format!("{user}:{MASK}"),
            _ => value.to_owned(),
        }
    }
}

fn is_secret(header: &str) -> bool {
    let name = header.trim().to_ascii_lowercase();
    name.ends_with("-key") || SECRET_NAMES.iter().any(|part| name.contains(part))
}

fn without_secrets(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut before = SecretFlag::No;
    let mask = |word: String| {
        let flag = take(&mut before);
        if flag != SecretFlag::No {
            return flag.mask(&word);
        }
        let (flag, at) = SecretFlag::of(&word);
        if at == word.len() {
            before = flag;
        }
        let (head, value) = word.split_at(at);
        format!("{head}{}", without_password(&flag.mask(value)))
    };
    words.map(mask).collect()
}

/// Masks the password of a user in a URL, wherever the URL begins.
fn without_password(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else { return word.to_owned() };
    let end = rest.find(['/', '?', '#', ',']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(end);
    let place = match place.rsplit_once('@').map(|(user, host)| (user.split_once(':'), host)) {
        Some((Some((user, _)), host)) => format!("{user}:{MASK}@{host}"),
        _ => place.to_owned(),
    };
    format!("{scheme}://{place}{}", without_password(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(words: &[&str]) -> Vec<String> {
        without_secrets(words.iter().map(|word| (*word).to_owned()))
    }

    #[test]
    fn secrets_are_masked_however_they_are_written() {
        for (typed, expected) in [
            (&["-H", "Authorization: Bearer S"][..], &["-H", "Authorization: ***"][..]),
            (&["-HCookie:S"], &["-HCookie: ***"]),
            (&["-H=X-Api-Key: S"], &["-H=X-Api-Key: ***"]),
            (&["-kH", "proxy-authorization: S"], &["-kH", "proxy-authorization: ***"]),
            (&["--header", "X-Auth-Token: a:b"], &["--header", "X-Auth-Token: ***"]),
            (&["--header=client-secret: S"], &["--header=client-secret: ***"]),
            (&["-a", "ada:S:T"], &["-a", "ada:***"]),
            (&["-kaada:S"], &["-kaada:***"]),
            (&["--basic-auth", "ada:S"], &["--basic-auth", "ada:***"]),
            (&["--basic-auth=ada:S"], &["--basic-auth=ada:***"]),
            (&["http://ada:S@a/b"], &["http://ada:***@a/b"]),
            (&["--otlp=http://ada:S@T@a:1/b@c"], &["--otlp=http://ada:***@a:1/b@c"]),
            (&["a=http://x:S@a,b=http://y:S@b"], &["a=http://x:***@a,b=http://y:***@b"]),
        ] {
            assert_eq!(recorded(typed), expected);
        }
    }

    #[test]
    fn everything_else_stays_as_it_was_typed() {
        for typed in [
            &["tare", "load", "http://ada@a:80/b:c@d?e=f", "-H", "Accept: text/html", "-k", "-c", "7"][..],
            &["-A", "a/b", "-Dfa", "http://a", "--headers", "Cookie: S", "--data", "token: S", "-", "--", ""],
            &["-H", "-a", "ada", "--agents", "ssh://ada@b:22,ssh://[::1]:22"],
        ] {
            assert_eq!(recorded(typed), typed);
        }
    }
}
