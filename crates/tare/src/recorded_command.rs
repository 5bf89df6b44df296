//! The command line as it stands in records and reports: as typed, but without its secrets.

use std::ffi::OsString;

use regex::{Captures, Regex};

use crate::args::{Command, RequestArgs, parse, with_curl_line};

pub const MASK: &str = "***";
/// Headers that hold no secret. Every other one may: names are chosen by who runs a server (`apikey`, `X-Auth`).
const PLAIN_HEADERS: &str = "\
    accept accept-charset accept-encoding accept-language cache-control connection content-encoding content-language \
    content-length content-type date dnt expect host if-match if-modified-since if-none-match if-unmodified-since \
    keep-alive origin pragma range te transfer-encoding upgrade user-agent via x-request-id";
/// Parts of the names of parameters in a URL, and of variables, whose values are secret.
pub const SECRET_PARAMETERS: [&str; 9] =
    ["token", "key", "secret", "pass", "pwd", "auth", "signature", "session", "credential"];

pub fn recorded_command() -> Vec<String> {
    // A line that cannot be read was refused before.
    without_secrets(with_curl_line(std::env::args_os().collect()).unwrap_or_default())
}

/// The words of a command line. Its parser knows which of them end in the secret of a flag.
fn without_secrets(words: Vec<OsString>) -> Vec<String> {
    let secrets = match parse(&words).map(|cli| cli.command) {
        Ok(Command::Load(args)) => secrets_of(args.request),
        _ => Vec::new(),
    };
    let mask = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        let masked = secrets.iter().find_map(|(secret, shown)| Some(format!("{}{shown}", word.strip_suffix(secret)?)));
        without_secrets_of_urls(&masked.unwrap_or(word))
    };
    words.into_iter().map(mask).collect()
}

/// The values of flags that hold a secret, each with what is shown in its place.
fn secrets_of(request: RequestArgs) -> Vec<(String, String)> {
    let of_header = |header: String| {
        let (name, _) = header.split_once(':').filter(|(name, _)| is_secret(name))?;
        let shown = format!("{name}: {MASK}");
        Some((header, shown))
    };
    let of_user = |user: String| {
        let shown = format!("{}:{MASK}", user.split_once(':')?.0);
        Some((user, shown))
    };
    request.header.into_iter().filter_map(of_header).chain(request.basic_auth.and_then(of_user)).collect()
}

pub fn is_secret(header: &str) -> bool {
    !PLAIN_HEADERS.split(' ').any(|plain| plain.eq_ignore_ascii_case(header.trim()))
}

/// Whether the name of a parameter, a variable or a flag says that its value is secret.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_PARAMETERS.iter().any(|part| name.contains(part))
}

/// Masks what is secret in URLs, wherever they begin: users, who may be tokens, and parameters with such a name, also
/// where a URL has no scheme. The user of ssh is an account, and only the password is secret.
fn without_secrets_of_urls(word: &str) -> String {
    let word = without_secret_parameters(word);
    let mask = |found: &Captures<'_>| match (&found[1], found[2].split_once(':')) {
        (scheme, Some((user, _))) => format!("{scheme}://{user}:{MASK}@"),
        (scheme, None) if scheme.ends_with("ssh") => found[0].to_owned(),
        (scheme, None) => format!("{scheme}://{MASK}@"),
    };
    let user = Regex::new(r"([\w+.-]*)://([^/?#,]*)@");
    user.map_or_else(|_| MASK.to_owned(), |user| user.replace_all(&word, mask).into_owned())
}

/// Masks the values of parameters whose name says that they are secret.
pub fn without_secret_parameters(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let (query, fragment) = query.find('#').map_or((query, ""), |at| query.split_at(at));
    let mask = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if names_secret(name) => format!("{name}={MASK}"),
        _ => parameter.to_owned(),
    };
    format!("{path}?{}{fragment}", query.split('&').map(mask).collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(words: &[&str]) -> Vec<String> {
        let line = ["tare", "load", "http://x/"].iter().chain(words).map(OsString::from);
        without_secrets(line.collect()).split_off(3)
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
            (&["--url=http://ada:S@T@a:1/b@c"], &["--url=http://ada:***@a:1/b@c"]),
            (&["a=http://x:S@a,b=http://y:S@b"], &["a=http://x:***@a,b=http://y:***@b"]),
            (&["-H", "apikey: S"], &["-H", "apikey: ***"]),
            (&["-H", "X-Auth: S", "-HX-Amz-Meta:S"], &["-H", "X-Auth: ***", "-HX-Amz-Meta: ***"]),
            (&["https://S@a/b", "a=https://S@a"], &["https://***@a/b", "a=https://***@a"]),
            (&["http://a/b?id=1&api_key=S&Token=S#c"], &["http://a/b?id=1&api_key=***&Token=***#c"]),
            (&["a:80/b?Token=S&id=1", "a?key=S"], &["a:80/b?Token=***&id=1", "a?key=***"]),
            (&["http://a/b?fields=id,name&api_key=S"], &["http://a/b?fields=id,name&api_key=***"]),
            (&["http://a/b?next=https://ada:S@b/c"], &["http://a/b?next=https://ada:***@b/c"]),
            (&["ssh://ada:S@b:22"], &["ssh://ada:***@b:22"]),
        ] {
            assert_eq!(recorded(typed), expected);
        }
    }

    #[test]
    fn a_word_that_is_not_utf_8_is_recorded_as_far_as_it_can_be() {
        let word = std::os::unix::ffi::OsStringExt::from_vec(b"caf\xe9.csv".to_vec());
        assert_eq!(without_secrets(vec![word]), ["caf\u{FFFD}.csv"]);
    }

    #[test]
    fn everything_else_stays_as_it_was_typed() {
        for typed in [
            &["tare", "load", "http://a:80/b:c@d?e=f", "-H", "Accept: text/html", "-k", "-c", "7"][..],
            &["-A", "a/b", "-Dfa", "http://a", "--headers", "Cookie: S", "--data", "token: S", "-", "--", ""],
            &["-H", "-a", "ada", "--agents", "ssh://ada@b:22,ssh://[::1]:22"],
        ] {
            assert_eq!(recorded(typed), typed);
        }
    }
}
