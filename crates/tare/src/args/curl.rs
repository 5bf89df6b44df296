//! A line for curl, as browsers copy it, in the flags of `tare load`: `--curl "curl 'http://…' -H 'Accept: */*'"`.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use regex::{Captures, Regex};

const FLAG: &str = "--curl";

/// What a flag of curl means here.
#[derive(Clone, Copy)]
enum Meaning {
    /// Nothing by itself: it is about what curl prints, is usual here, or counts at the end.
    Nothing,
    /// The same of a flag with a value.
    NothingWithValue,
    Flag(&'static str),
    Value(&'static str),
    /// A header of this name with the value after this word.
    Header(&'static str, &'static str),
    AnyHeader,
    Cookie,
    /// A part of the body: text, or a file after @.
    Data,
    Text,
    /// A part of the body that is to be encoded.
    Encoded,
    Form,
    Upload,
    Url,
    /// There is no such thing here, for this reason.
    Refused(&'static str),
}

use Meaning::*;

const OTHER_ADDRESS: Meaning = Refused("tare's own --connect-to HOST:PORT, outside a line for curl, says the same");
/// What redirects are followed with elsewhere.
const REDIRECTS: [&str; 4] = ["--max-redirects", "--max-redirs", "--redirect", "--redirects"];

/// The flags of curl that people have in a line for one request.
const FLAGS: &[(&str, &str, Meaning)] = &[
    ("-X", "--request", Value("-X")),
    ("-H", "--header", AnyHeader),
    ("-d", "--data", Data),
    ("", "--data-ascii", Data),
    ("", "--data-binary", Data),
    ("", "--data-raw", Text),
    ("", "--data-urlencode", Encoded),
    ("", "--json", Data),
    ("-F", "--form", Form),
    ("-G", "--get", Nothing),
    ("-I", "--head", Nothing),
    ("-T", "--upload-file", Upload),
    ("-u", "--user", Value("-a")),
    ("-A", "--user-agent", Header("User-Agent", "")),
    ("-b", "--cookie", Cookie),
    ("-e", "--referer", Header("Referer", "")),
    ("", "--oauth2-bearer", Header("Authorization", "Bearer ")),
    ("", "--compressed", Nothing),
    ("-k", "--insecure", Flag("-k")),
    ("", "--cacert", Value("--cacert")),
    ("-E", "--cert", Value("--cert")),
    ("", "--key", Value("--key")),
    ("", "--connect-to", OTHER_ADDRESS),
    ("", "--resolve", OTHER_ADDRESS),
    ("", "--unix-socket", Value("--unix-socket")),
    ("", "--http1.1", Nothing),
    ("", "--http2", Flag("--http2")),
    ("", "--http2-prior-knowledge", Flag("--http2")),
    ("-m", "--max-time", Value("--timeout")),
    ("", "--connect-timeout", Value("--connect-timeout")),
    ("", "--url", Url),
    ("-s", "--silent", Nothing),
    ("-S", "--show-error", Nothing),
    ("-v", "--verbose", Nothing),
    ("-i", "--include", Nothing),
    ("-f", "--fail", Nothing),
    ("", "--fail-with-body", Nothing),
    ("-g", "--globoff", Nothing),
    ("-N", "--no-buffer", Nothing),
    ("-#", "--progress-bar", Nothing),
    ("-o", "--output", NothingWithValue),
    ("-w", "--write-out", NothingWithValue),
    ("-D", "--dump-header", NothingWithValue),
    ("-c", "--cookie-jar", NothingWithValue),
    ("-L", "--location", Flag("--follow")),
    ("-x", "--proxy", Refused("tare connects to the server itself")),
    ("", "--digest", Refused("of the ways to log in, tare knows Basic alone")),
    ("", "--http3", Refused("tare speaks HTTP/1.1 and HTTP/2")),
];

/// The command line with the flags that a line for curl stands for. Flags that mean nothing here are errors.
pub fn with_curl_line(words: Vec<OsString>) -> Result<Vec<OsString>, clap::Error> {
    let is_load = words.iter().skip(1).any(|word| word == "load");
    let mut read = Vec::with_capacity(words.len());
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let text = word.to_str().filter(|text| is_load && text.starts_with(FLAG));
        let line = match text.map(|text| &text[FLAG.len()..]) {
            Some("") => words.next().unwrap_or_default().into_string().unwrap_or_default(),
            Some(value) if value.starts_with('=') => value[1..].to_owned(),
            _ => {
                read.push(word);
                continue;
            }
        };
        let flags = flags_of_line(&line)
            .map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, format!("{FLAG}: {why}\n")))?;
        read.extend(flags.into_iter().map(OsString::from));
    }
    Ok(read)
}

/// The same error, or, for a flag of other tools that a load does not have, what to write: a similar name would mislead.
pub fn name_flag_of_others(error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return error };
    if REDIRECTS.contains(&&**given) && error.kind() == ErrorKind::UnknownArgument {
        let text = format!("{given} of other tools is --follow=N here: it follows N redirects at most\n");
        return clap::Error::raw(ErrorKind::UnknownArgument, text);
    }
    let found = FLAGS.iter().find(|(short, long, _)| given == long || (!short.is_empty() && given == short));
    let Some((.., meaning)) = found.filter(|_| error.kind() == ErrorKind::UnknownArgument) else { return error };
    let text = match meaning {
        Refused(why) => format!("{given} of curl has no counterpart: {why}\n"),
        _ => format!(
            "{given} is a flag of curl; give the whole line for curl as it is: {FLAG} \"curl …\". docs/FLAGS.md has the \
             flags of tare\n"
        ),
    };
    clap::Error::raw(ErrorKind::UnknownArgument, text)
}

/// What a line says, in the flags of `tare load`.
fn flags_of_line(line: &str) -> Result<Vec<String>, String> {
    // The ends of lines of a file that was written on Windows. Within quotes they are of the body.
    let line = line.replace("\\\r\n", "\\\n");
    let words = shell_words::split(&with_plain_quotes(line.trim_end_matches(['\r', '\n'])))
        .map_err(|_| "a quote is not closed".to_owned())?;
    let mut words = VecDeque::from(words);
    if words.pop_front().as_deref() != Some("curl") {
        return Err("the line does not begin with curl; give it as a browser copies it".to_owned());
    }
    let mut request = CurlRequest::default();
    while let Some(word) = words.pop_front() {
        if !word.starts_with('-') || word == "-" {
            request.urls.push(word);
            continue;
        }
        // A short flag may have its value, or other short flags, in the same word.
        let end = word.char_indices().nth(2).filter(|_| !word.starts_with("--")).map_or(word.len(), |(at, _)| at);
        let (flag, glued) = word.split_at(end);
        let found = FLAGS.iter().find(|(short, long, _)| (!short.is_empty() && *short == flag) || *long == flag);
        let Some(&(_, name, meaning)) = found else {
            return Err(format!("{flag} of curl is not known here; leave it out, or write tare's own flags"));
        };
        let value = if matches!(meaning, Nothing | Flag(_) | Refused(_)) {
            if !glued.is_empty() {
                words.push_front(format!("-{glued}"));
            }
            String::new()
        } else if glued.is_empty() {
            words.pop_front().ok_or_else(|| format!("{name} has no value"))?
        } else {
            glued.to_owned()
        };
        request.apply(name, meaning, value)?;
    }
    request.flags()
}

/// What a line says so far.
#[derive(Default)]
struct CurlRequest {
    /// The long names of curl's flags.
    given: Vec<&'static str>,
    urls: Vec<String>,
    flags: Vec<(&'static str, Option<String>)>,
    headers: Vec<String>,
    /// The names of headers that shall not be sent.
    left_out: Vec<String>,
    cookies: Vec<String>,
    /// The parts of the body, with what is between them.
    data: Option<String>,
    /// The file that is the body.
    file: Option<String>,
}

impl CurlRequest {
    fn apply(&mut self, name: &'static str, meaning: Meaning, value: String) -> Result<(), String> {
        self.given.push(name);
        match meaning {
            Nothing | NothingWithValue => {}
            Refused(why) => return Err(format!("{name} has no counterpart: {why}")),
            Flag(flag) => self.set(flag, None),
            Value(flag) => self.set(flag, Some(value)),
            Cookie if !value.contains('=') => {
                return Err(format!("--cookie {value}: tare reads no file of cookies; write them as name=value"));
            }
            Cookie => self.cookies.push(value),
            Header(name, prefix) => self.add_header(&format!("{name}: {prefix}{value}")),
            AnyHeader => self.add_header(&value),
            Data if value.starts_with('@') => self.set_file(value[1..].to_owned())?,
            Data | Text => self.add_data(&value, name == "--json"),
            Encoded => self.add_data(&encoded(&value)?, false),
            Form => self.set("--form", Some(literal(&value))),
            Upload => self.set_file(value)?,
            Url => self.urls.push(value),
        }
        Ok(())
    }

    /// Of a flag that is given twice, the last one counts; parts of a form add up.
    fn set(&mut self, flag: &'static str, value: Option<String>) {
        self.flags.retain(|(other, _)| *other != flag || flag == "--form");
        self.flags.push((flag, value));
    }

    fn set_file(&mut self, file: String) -> Result<(), String> {
        match self.file.replace(file) {
            None => Ok(()),
            Some(_) => Err("two files for one body; put them into one".to_owned()),
        }
    }

    fn add_header(&mut self, line: &str) {
        match header(line) {
            Some(header) => self.headers.push(header),
            None => self.left_out.push(line.split(':').next().unwrap_or(line).to_owned()),
        }
    }

    /// Parts of a form have an ampersand between them, and parts of JSON have nothing.
    fn add_data(&mut self, text: &str, is_json: bool) {
        match &mut self.data {
            None => self.data = Some(text.to_owned()),
            Some(data) if is_json => data.push_str(text),
            Some(data) => *data += &format!("&{text}"),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// Whether a header is given, or shall not be sent.
    fn has_header(&self, wanted: &str) -> bool {
        let names = self.headers.iter().filter_map(|line| Some(line.split_once(':')?.0));
        names.chain(self.left_out.iter().map(String::as_str)).any(|name| name.eq_ignore_ascii_case(wanted))
    }

    /// The URL, without its fragment, which no server gets. A file goes below a folder by its own name.
    fn url(&self, is_upload: bool) -> Result<String, String> {
        // cmd of Windows has a caret before each quote.
        if self.urls.iter().any(|url| url.starts_with('^')) {
            return Err("the line is written for cmd of Windows; copy it as cURL (bash)".to_owned());
        }
        let [url] = &self.urls[..] else {
            return Err(format!("the line has {} URLs, and not one", self.urls.len()));
        };
        let url = url.split('#').next().unwrap_or(url);
        let file = self.file.as_deref().filter(|_| is_upload && url.ends_with('/'));
        Ok(literal(url) + &file.map_or(String::new(), |file| literal(file.rsplit('/').next().unwrap_or(file))))
    }

    fn flags(mut self) -> Result<Vec<String>, String> {
        let (is_in_url, has_json, is_upload) = (self.has("--get"), self.has("--json"), self.has("--upload-file"));
        // A file has no text beside it, so that one of these flags names it.
        let has_no_line_ends = self.file.is_some() && (self.has("--data") || self.has("--data-ascii"));
        let no_line_ends = has_no_line_ends.then(|| "--no-line-ends".to_owned());
        let mut url = self.url(is_upload)?;
        let sends_text = self.data.is_some() && !is_in_url;
        let body = self.data.take().unwrap_or_default();
        if is_in_url && !body.is_empty() {
            let sign = if url.contains('?') { '&' } else { '?' };
            url = format!("{url}{sign}{}", literal(&body));
        }
        if is_in_url && self.file.is_some() {
            return Err("--get with a file of data; write its text into the URL".to_owned());
        }
        if sends_text && self.file.is_some() {
            return Err("text and a file for one body; put both into one file".to_owned());
        }
        if sends_text && body.starts_with('@') {
            return Err("a body that begins with @; put it into a file, and write --data-binary @FILE".to_owned());
        }
        if !self.cookies.is_empty() && !self.has_header("cookie") {
            self.headers.push(format!("Cookie: {}", self.cookies.join(";")));
        }
        // tare undoes gzip for checks, and no other coding.
        if self.has("--compressed") && !self.has_header("accept-encoding") {
            self.headers.push("Accept-Encoding: gzip".to_owned());
        }
        let kind = if has_json { "application/json" } else { "application/x-www-form-urlencoded" };
        let sends_file = self.file.is_some() && !is_upload;
        if (sends_text || sends_file) && !self.has_header("content-type") {
            self.headers.push(format!("Content-Type: {kind}"));
        }
        if has_json && !self.has_header("accept") {
            self.headers.push("Accept: application/json".to_owned());
        }
        let mut flags = vec![url];
        let implied = [(self.has("--head"), "HEAD"), (is_upload, "PUT")].into_iter().find(|(is_it, _)| *is_it);
        if let Some((_, method)) = implied.filter(|_| !self.flags.iter().any(|(flag, _)| *flag == "-X")) {
            flags.extend(["-X".to_owned(), method.to_owned()]);
        }
        // tare encodes a form without a file otherwise.
        if self.flags.iter().any(|(flag, _)| *flag == "--form") {
            flags.push("--multipart".to_owned());
        }
        flags.extend(self.flags.into_iter().flat_map(|(flag, value)| [flag.to_owned()].into_iter().chain(value)));
        flags.extend(self.headers.iter().flat_map(|line| ["-H".to_owned(), literal(line)]));
        if sends_text {
            // In one word: the parts of a form that a browser sends begin with hyphens, as flags do.
            flags.push(format!("--data={}", literal(&body)));
        }
        flags.extend(self.file.into_iter().flat_map(|file| ["-D".to_owned(), file]).chain(no_line_ends));
        Ok(flags)
    }
}

/// A header as tare takes it: `Name;` has no value, and `Name:` is none. Nor is what browsers offer for a WebSocket.
fn header(line: &str) -> Option<String> {
    match line.split_once(':') {
        Some((name, value)) if value.trim().is_empty() || name.eq_ignore_ascii_case("sec-websocket-extensions") => None,
        Some(_) => Some(line.to_owned()),
        None => Some(format!("{}:", line.trim_end_matches(';'))),
    }
}

/// `name=value` with an encoded value, or an encoded value alone.
fn encoded(value: &str) -> Result<String, String> {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    match value.split_once('=') {
        Some(("", text)) => Ok(encode(text)),
        Some((name, text)) => Ok(format!("{name}={}", encode(text))),
        None if value.contains('@') => Err(format!("--data-urlencode {value}: give the text itself")),
        None => Ok(encode(value)),
    }
}

/// Braces mean themselves in curl.
fn literal(text: &str) -> String {
    text.replace("{{", "\\{{")
}

/// The line with `$'…'`, in which browsers write what has special characters, as plain quotes.
fn with_plain_quotes(line: &str) -> String {
    // Inside other quotes, and behind a backslash, it means itself.
    let quotes = Regex::new(r#"(?s)'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\$'((?:[^'\\]|\\.)*)'"#);
    let plain = |found: &Captures<'_>| match found.get(1) {
        Some(text) => shell_words::quote(&ansi_text(text.as_str())).into_owned(),
        None => found[0].to_owned(),
    };
    quotes.map_or_else(|_| line.to_owned(), |quotes| quotes.replace_all(line, plain).into_owned())
}

/// The text inside `$'…'`, with its escapes undone.
fn ansi_text(quoted: &str) -> String {
    let letters = Regex::new(r"(?s)\\u([[:xdigit:]]{4})|\\x([[:xdigit:]]{2})|\\?(.)");
    // In UTF-16, because browsers escape an emoji as its two halves.
    let mut text: Vec<u16> = Vec::new();
    for found in letters.iter().flat_map(|letters| letters.captures_iter(quoted)) {
        match (found.get(1).or(found.get(2)), &found[0]) {
            (Some(digits), _) => text.push(u16::from_str_radix(digits.as_str(), 16).unwrap_or(0xFFFD)),
            (None, r"\n") => text.push(u16::from(b'\n')),
            (None, r"\r") => text.push(u16::from(b'\r')),
            (None, r"\t") => text.push(u16::from(b'\t')),
            (None, _) => text.extend(found[3].encode_utf16()),
        }
    }
    String::from_utf16_lossy(&text)
}
