//! Values of the flags of `tare load`, as people write them, and what is said of those that cannot be read.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, ValueEnum};
use tare_load::{MAX_MESSAGE_BYTES, Think};
use tare_plan::agent_place::AgentPlace;
use tare_plan::load_plan::LoadStage;
use tare_units::{Span, parse_count, parse_quantity};
use url::Host;

/// The highest rate or level that means something. Beyond it the intended starts of requests are no longer apart.
const MOST_PER_S: f64 = 1e8;

/// Requests per second: `500`, `20k`, `20000/s`.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = parse_level(text).filter(|rate| *rate > 0.0);
    rate.ok_or_else(|| "the rate must be a number above 0 and at most 100M, such as 500 or 20k".to_owned())
}

/// Whether the generator stays awake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Spin {
    /// If there is a rate and the server runs on other cores.
    Auto,
    /// Also in a closed loop, and on cores where other programs run.
    Always,
    /// Sleep until something is due.
    Never,
}

/// One stage of `--stages` or `--user-stages`: to a level in so long, `5000:30s`.
pub fn parse_stage(text: &str) -> Result<LoadStage, String> {
    let wrong = || format!("\"{text}\" is not a stage; write LEVEL:SPAN, such as 5000:30s");
    let (rate, over) = text.split_once(':').ok_or_else(wrong)?;
    // A stage may end at rest, which no rate may be.
    let to = parse_level(rate).ok_or_else(wrong)?;
    Ok(LoadStage { to, over: over.parse().map_err(|_| wrong())? })
}

/// A rate or a number of users: `0`, `500`, `20k`, `20000/s`.
fn parse_level(text: &str) -> Option<f64> {
    parse_quantity(text.trim_end_matches("/s")).ok().filter(|level| *level <= MOST_PER_S)
}

/// The file of `--json`, which others take for a body.
pub fn parse_file(text: &str) -> Result<PathBuf, String> {
    if text.trim_start().starts_with(['{', '[', '@']) {
        return Err("--json names the file for the result; a body of JSON is given with --data-json".to_owned());
    }
    Ok(PathBuf::from(text))
}

pub fn parse_think(text: &str) -> Result<Think, String> {
    let span = |text: &str| text.parse::<Span>().map(|span| span.0);
    if let Some(mean) = text.strip_prefix('~') {
        return Ok(Think::Exponential(span(mean)?));
    }
    match text.split_once("..") {
        None => Ok(Think::Constant(span(text)?)),
        Some((from, to)) if span(from)? <= span(to)? => Ok(Think::Between(span(from)?, span(to)?)),
        Some(_) => Err("the shorter pause comes first, as in 50ms..200ms".to_owned()),
    }
}

/// A whole number of at least 1, as wrk and oha take it: `500`, `10k`, `1M`.
pub fn parse_number(text: &str) -> Result<u64, String> {
    let number = parse_count(text).ok().filter(|number| *number > 0);
    number.ok_or_else(|| "give a whole number of at least 1, such as 500 or 10k".to_owned())
}

/// The length of a message, at most that of the longest message which is read.
pub fn parse_message_bytes(text: &str) -> Result<u64, String> {
    let most = MAX_MESSAGE_BYTES as u64;
    Some(parse_number(text)?)
        .filter(|bytes| *bytes <= most)
        .ok_or_else(|| format!("a message can have at most {most} bytes"))
}

/// Streams or pipelined requests of a connection.
pub fn depth(text: &str) -> Result<u16, String> {
    let depth = text.parse().ok().filter(|depth| (1..=4096).contains(depth));
    depth.ok_or_else(|| "give a whole number from 1 to 4096".to_owned())
}

pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "give a whole number, such as 42".to_owned())
}

pub fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "give a port, such as 8080, or 0 for any free port".to_owned())
}

pub fn parse_connections(text: &str) -> Result<u32, String> {
    u32::try_from(parse_number(text)?).map_err(|_| "the number of connections is too large".to_owned())
}

/// A time that cannot be 0, such as that of a timeout.
pub fn parse_time(text: &str) -> Result<Span, String> {
    let span: Span = text.parse()?;
    if span.0.is_zero() { Err("the time must be above 0, such as 10s".to_owned()) } else { Ok(span) }
}

/// The time of `-d`, which is the body for those who come from curl, hey or oha.
pub fn parse_duration(text: &str) -> Result<Span, String> {
    let is_time = text.starts_with(|first: char| first.is_ascii_digit());
    let advice = if is_time { "" } else { "; a body is given with --data or -D FILE" };
    text.parse::<Span>().map_err(|error| format!("{error}{advice}"))?;
    parse_time(text)
}

/// The number of `-t`, which is the timeout for those who come from hey or oha.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|threads| *threads > 0);
    number.ok_or_else(|| {
        "the number of threads must be above 0; use --timeout for the time limit of a response".to_owned()
    })
}

/// `HOST:PORT`: what is connected to in place of the URL's host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectTo {
    /// As the system looks it up.
    pub host: String,
    pub port: u16,
}

impl FromStr for ConnectTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not an address; write HOST:PORT, such as 127.0.0.1:8443");
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?;
        let host = Host::parse(host).map_err(|_| wrong())?;
        Ok(Self { host: looked_up(host), port })
    }
}

/// The name of `--sni`, as certificates have it: letters beyond ASCII in punycode.
pub fn parse_server_name(text: &str) -> Result<String, String> {
    let name = Host::parse(text).or_else(|_| Host::parse(&format!("[{text}]"))).map(looked_up).unwrap_or_default();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte));
    is_name
        .then_some(name)
        .ok_or_else(|| "give a DNS name or an address, without a port, such as shop.example".to_owned())
}

/// A host as the system looks it up: an address of IPv6 without brackets.
pub fn looked_up<S: AsRef<str>>(host: Host<S>) -> String {
    host.to_string().trim_matches(['[', ']']).to_owned()
}

/// Reads a place for agents. clap would repeat one that is wrong, with the password in it.
#[derive(Clone)]
pub struct PlaceReader;

impl TypedValueParser for PlaceReader {
    type Value = AgentPlace;

    fn parse_ref(&self, _: &Command, _: Option<&Arg>, text: &OsStr) -> Result<AgentPlace, clap::Error> {
        let wrong = |why: String| clap::Error::raw(ErrorKind::ValueValidation, format!("--agents: {why}\n"));
        text.to_string_lossy().parse().map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn a_path_that_records_name_is_text() {
        let parsed = |path: &[u8]| {
            let words = ["tare", "load", "https://shop.example/", "--cacert"].map(OsString::from);
            Cli::try_parse_from(words.into_iter().chain([OsString::from_vec(path.to_vec())]))
        };
        assert!(parsed("café.pem".as_bytes()).is_ok());
        assert_eq!(parsed(b"caf\xe9.pem").unwrap_err().kind(), ErrorKind::InvalidUtf8);
    }

    #[test]
    fn a_server_is_named_as_its_certificate_names_it() {
        for (text, name) in
            [("shop.example", "shop.example"), ("Bücher.example", "xn--bcher-kva.example"), ("::1", "::1")]
        {
            assert_eq!(parse_server_name(text).as_deref(), Ok(name));
        }
        for wrong in ["", "a b", "shop.example:443", "{{h}}"] {
            assert!(parse_server_name(wrong).unwrap_err().contains("such as shop.example"), "{wrong}");
        }
    }

    #[test]
    fn a_mistyped_time_is_taken_for_no_body() {
        assert!(!parse_duration("10sec").unwrap_err().contains("body"));
        assert!(parse_duration("@body.json").unwrap_err().ends_with("; a body is given with --data or -D FILE"));
    }

    #[test]
    fn numbers_may_have_a_suffix() {
        for (text, expected) in [("500", Some(500)), ("10k", Some(10_000)), ("2M", Some(2_000_000))] {
            assert_eq!(parse_number(text).ok(), expected, "{text}");
        }
        for wrong in ["", "0", "k", "-1", "1.5", "99999999999999999999", "99999999999999999M"] {
            assert!(parse_number(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_message_bytes("16777216"), Ok(16 << 20));
        assert!(parse_message_bytes("16777217").unwrap_err().contains("at most 16777216 bytes"));
        assert_eq!(parse_rate("20k/s"), Ok(20_000.0));
        for wrong in ["", "0", "-5", "NaN", "inf", "k", "1e300", "101M"] {
            assert!(parse_rate(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_is_above_0() {
        for wrong in ["0", "0s", "0ms", "-1s", "soon"] {
            assert!(parse_time(wrong).is_err() && parse_duration(wrong).is_err(), "{wrong}");
        }
        assert!(!parse_time("soon").unwrap_err().contains("--data"), "only -d is taken for a body");
        assert_eq!(parse_time("5ms"), Ok(Span::from_millis(5)));
    }

    #[test]
    fn stages_and_pauses_are_read_as_they_are_meant() {
        let stage = |to, secs| Ok(LoadStage { to, over: Span::from_secs(secs) });
        assert_eq!(parse_stage("5k:30s"), stage(5_000.0, 30));
        for rest in ["0:1m", "0.0:1m", "0/s:1m"] {
            assert_eq!(parse_stage(rest), stage(0.0, 60), "{rest}");
        }
        assert!(parse_stage("1e300:1m").is_err() && parse_stage("-1:1m").is_err());
        let ms = std::time::Duration::from_millis;
        assert_eq!(parse_think("100ms"), Ok(Think::Constant(ms(100))));
        assert_eq!(parse_think("50ms..200ms"), Ok(Think::Between(ms(50), ms(200))));
        assert_eq!(parse_think("~100ms"), Ok(Think::Exponential(ms(100))));
    }
}
