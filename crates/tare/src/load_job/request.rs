//! The requests of a load, from the flags.

use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use tare_analysis::format::count;
use tare_load::{
    Body, Feed, FeedFormat, ListedBody, ListedRequest, Method, RequestSpec, Requests, announces_close, grpc_path,
    method_named, parse_request_list,
};

use super::body::{body, bytes, text_or_file, unreadable};
use super::files::InputFiles;
use super::place::{LoadTarget, parse_url};
use crate::args::{ConnectionArgs, RequestArgs};
use crate::console::print_note;
use crate::failure::{refuse_given, wrong_usage};
use crate::protoset::Protoset;
use crate::recorded_command::without_secret_parameters;

/// The requests that take turns, each with its whole URL: those of the command line, or those of a list.
pub fn wanted_requests(urls: &[String], args: &RequestArgs, files: &InputFiles) -> anyhow::Result<Vec<ListedRequest>> {
    let Some(file) = &args.urls_file else {
        let wanted = |url: &String| {
            let (place, url) = (url.clone(), url.clone());
            ListedRequest { place, weight: 1, method: None, url, headers: Vec::new(), body: ListedBody::None }
        };
        return Ok(urls.iter().map(wanted).collect());
    };
    let shown = file.display();
    if let [_, other, ..] = urls {
        return Err(wrong_usage(format!(
            "{other}: only one URL may stand beside --urls, that of the server of its paths; write this one into {shown}"
        )));
    }
    let text = files.table(file).with_context(|| unreadable(file, "the list of URLs"))?;
    let text = String::from_utf8(text).with_context(|| unreadable(file, "the list of URLs"))?;
    let mut list = parse_request_list(&shown.to_string(), &text)?;
    let base = urls.first().map(|base| base.trim_end_matches('/'));
    if list.is_recording {
        keep_one_server(&mut list.requests, base, &shown.to_string())?;
    } else {
        check_base(&list.requests, base, &shown.to_string())?;
    }
    list.requests.into_iter().map(|listed| with_server(listed, base)).collect()
}

/// Of the requests of a recording, keeps those to one server: that of the URL, or that of the first.
fn keep_one_server(list: &mut Vec<ListedRequest>, base: Option<&str>, shown: &str) -> anyhow::Result<()> {
    let origin = |url: &str| parse_url(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let first = list.first().map(|first| origin(&first.url)).unwrap_or_default();
    let wanted = base.map_or_else(|| first.clone(), origin);
    let all = list.len();
    list.retain(|listed| origin(&listed.url) == wanted);
    if list.is_empty() {
        return Err(wrong_usage(format!(
            "{shown} has no request to {wanted}; its first is to {first}: give that URL, or none"
        )));
    }
    if list.len() < all {
        let (kept, others) = (count(list.len() as u64, "request"), all - list.len());
        print_note(&format!("  {shown}: {kept} to {wanted}; {others} to other servers are left out"));
    }
    Ok(())
}

fn check_base(list: &[ListedRequest], base: Option<&str>, shown: &str) -> anyhow::Result<()> {
    match base {
        Some(base) if !list.iter().any(is_path) => Err(wrong_usage(format!(
            "{base}: {shown} has whole URLs and no path that this URL could complete; leave it out"
        ))),
        Some(base) if base.contains(['?', '#']) => {
            Err(wrong_usage(format!("{base}: the paths of {shown} cannot follow a query; write the URL without it")))
        }
        _ => Ok(()),
    }
}

fn is_path(listed: &ListedRequest) -> bool {
    listed.url.starts_with('/')
}

fn with_server(listed: ListedRequest, base: Option<&str>) -> anyhow::Result<ListedRequest> {
    match base {
        _ if !is_path(&listed) => Ok(listed),
        Some(base) => Ok(ListedRequest { url: format!("{base}{}", listed.url), ..listed }),
        None => Err(wrong_usage(format!(
            "{}: {} is a path; add the URL of its server to the command line",
            listed.place, listed.url
        ))),
    }
}

fn own_body(place: &str, body: ListedBody, files: &InputFiles) -> anyhow::Result<Option<Body>> {
    Ok(match body {
        ListedBody::None => None,
        ListedBody::Bytes(bytes) => Some(bytes.into()),
        ListedBody::File(file) => {
            let contents = files.contents(&file);
            Some(contents.with_context(|| format!("{place}: {}", unreadable(&file, "the body")))?.into())
        }
    })
}

/// The requests, with what fills their variables. What a request has of its own takes the place of what the flags say.
pub fn build_requests(
    wanted: Vec<ListedRequest>,
    target: &LoadTarget,
    args: &RequestArgs,
    connection: &ConnectionArgs,
    files: &InputFiles,
    seed: u64,
) -> anyhow::Result<Requests> {
    refuse_variables(args)?;
    if target.is_grpc {
        return calls(&wanted, target, args, connection, files, seed);
    }
    let body = body(args, files)?;
    let unknown = |name: &String| wrong_usage(format!("\"{name}\" is not an HTTP method; write for example GET"));
    let method = args.method.as_ref().map(|name| method_named(name).map_err(|_| unknown(name))).transpose()?;
    let headers = headers(args, connection)?;
    let request = |(wanted, path): (ListedRequest, &String)| {
        let body = own_body(&wanted.place, wanted.body, files)?.or_else(|| body.clone());
        let usual = if body.is_some() { Method::POST } else { Method::GET };
        let method = wanted.method.or_else(|| method.clone()).unwrap_or(usual);
        Ok::<_, anyhow::Error>(RequestSpec {
            headers: completed(wanted.headers, &headers),
            body: body.unwrap_or_default(),
            checks: args.check.clone(),
            weight: wanted.weight,
            name: Some(format!("{method} {}", without_secret_parameters(path))),
            ..RequestSpec::new(method, path)
        })
    };
    let open = |file: &PathBuf| Ok::<_, anyhow::Error>(feed(file, files)?.in_order(args.feed_order));
    Ok(Requests {
        list: wanted.into_iter().zip(&target.paths).map(request).collect::<Result<_, _>>()?,
        feeds: args.feed.iter().map(open).collect::<Result<_, _>>()?,
        think: args.think.unwrap_or_default(),
        seed,
        follow: args.follow.unwrap_or(0),
        setup: Vec::new(),
    })
}

fn calls(
    wanted: &[ListedRequest],
    target: &LoadTarget,
    args: &RequestArgs,
    connection: &ConnectionArgs,
    files: &InputFiles,
    seed: u64,
) -> anyhow::Result<Requests> {
    let headers = headers(args, connection)?;
    let parse = |file: &Path| {
        Protoset::parse(file, &files.contents(file).with_context(|| unreadable(file, "the descriptor set"))?)
    };
    let protoset = args.protoset.as_deref().map(parse).transpose()?;
    // Each is read once, because a pipe is empty then.
    let json = args.data_json.as_deref().map(|text| text_or_file(text, files)).transpose()?;
    if json.as_ref().is_some_and(|json| json.contains("{{")) {
        return Err(wrong_usage(
            "--data-json has a variable, and messages of gRPC have none; where braces are meant, write \\u007b{",
        ));
    }
    let bytes = bytes(args, files)?.unwrap_or_default();
    let mut list = Vec::new();
    for (wanted, path) in wanted.iter().zip(&target.paths) {
        let path = grpc_path(path).map_err(|what| wrong_usage(format!("{}: {what}", wanted.url)))?;
        if wanted.body != ListedBody::None {
            return Err(wrong_usage(format!(
                "{}: a listed call of gRPC has no body of its own; give one message to all (--data-json, -D)",
                wanted.url
            )));
        }
        let message = match (&json, &protoset) {
            (Some(json), Some(protoset)) => protoset.message(&path, json)?,
            _ => bytes.clone(),
        };
        let mut call = RequestSpec { weight: wanted.weight, ..RequestSpec::call(&path, &message) };
        call.headers = completed(completed(wanted.headers.clone(), &headers), &call.headers);
        call.checks.extend(args.check.clone());
        list.push(call);
    }
    Ok(Requests { think: args.think.unwrap_or_default(), seed, ..Requests::of(list) })
}

/// These headers, and the others whose names are not among them.
fn completed(own: Vec<(String, String)>, others: &[(String, String)]) -> Vec<(String, String)> {
    let is_own = |name: &str| own.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    let others: Vec<_> = others.iter().filter(|(name, _)| !is_own(name)).cloned().collect();
    own.into_iter().chain(others).collect()
}

/// Refuses variables in flags that do not fill them: the server would get the braces.
fn refuse_variables(args: &RequestArgs) -> anyhow::Result<()> {
    let unfilled = [
        ("-a", &args.basic_auth, "-H 'Authorization: Basic {{column}}', with USER:PASSWORD in base64 in that column"),
        ("--host", &args.host, "-H 'Host: {{column}}'"),
        ("-X", &args.method, "a list with --urls, in which each line may have a method"),
    ];
    // The value is not repeated: that of -a is a secret.
    match unfilled.into_iter().find(|(_, value, _)| value.as_ref().is_some_and(|value| value.contains("{{"))) {
        Some((flag, _, instead)) => {
            Err(wrong_usage(format!("the value of {flag} has a variable, which is not filled there; write {instead}")))
        }
        None => Ok(()),
    }
}

fn headers(args: &RequestArgs, connection: &ConnectionArgs) -> anyhow::Result<Vec<(String, String)>> {
    let mut headers = args.header.iter().map(|line| parse_header(line)).collect::<anyhow::Result<Vec<_>>>()?;
    let is_given = |wanted: &str| args.header.iter().any(|line| is_header(line, wanted));
    let credentials = match &args.basic_auth {
        Some(pair) if !pair.contains(':') => {
            return Err(wrong_usage("-a has no password; write -a USER:PASSWORD"));
        }
        pair => pair.as_ref().map(|pair| format!("Basic {}", BASE64_STANDARD.encode(pair))),
    };
    for (flag, name, value) in [
        ("-T", "Content-Type", args.content_type.clone()),
        ("-A", "Accept", args.accept.clone()),
        ("-a", "Authorization", credentials),
        ("--no-keepalive", "Connection", connection.no_keepalive.then(|| "close".to_owned())),
    ] {
        let Some(value) = value else { continue };
        refuse_twice(flag, name, is_given(name))?;
        headers.push((name.to_owned(), value));
    }
    refuse_twice("--host", "Host", args.host.is_some() && is_given("Host"))?;
    Ok(headers)
}

/// Refuses a header that HTTP/2 does not have, and that would not be sent.
pub fn refuse_close(list: &[RequestSpec], remedy: &str) -> anyhow::Result<()> {
    if list.iter().flat_map(|request| &request.headers).any(|(name, value)| announces_close(name, value)) {
        return Err(wrong_usage(format!(
            "Connection: close has no meaning over HTTP/2, whose connections stay open; {remedy}"
        )));
    }
    Ok(())
}

/// Refuses a header of which one value would be ignored.
fn refuse_twice(flag: &str, name: &str, is_given: bool) -> anyhow::Result<()> {
    let why = format!("sends the header {name}; remove {name} from -H, or leave out the flag");
    refuse_given(&[(flag, is_given)], &why)
}

/// A table of values; the name of its file says what it is, or its contents do.
fn feed(file: &Path, files: &InputFiles) -> anyhow::Result<Feed> {
    let contents = files.table(file).with_context(|| format!("cannot read the feed {}", file.display()))?;
    // `users.csv` for `users.csv.gz`, whose contents are read as they were before.
    let is_packed = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let plain = if is_packed { file.with_extension("") } else { file.to_owned() };
    let format = FeedFormat::of_contents(&plain, &contents)?;
    Ok(Feed::parse(&file.display().to_string(), format, &contents)?)
}

pub fn parse_header(line: &str) -> anyhow::Result<(String, String)> {
    let pair = line.split_once(':').filter(|(name, _)| !name.trim().is_empty());
    let Some((name, value)) = pair else {
        return Err(wrong_usage(format!("-H \"{line}\" is not a header; write for example 'Accept: text/html'")));
    };
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

pub fn is_header(line: &str, name: &str) -> bool {
    line.split_once(':').is_some_and(|(given, _)| given.trim().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::args::{Command, parse};

    /// The requests of `tare load` with these words.
    fn requests(words: &[&str]) -> anyhow::Result<Requests> {
        let Command::Load(args) = parse([&["tare", "load"], words].concat()).unwrap().command else { panic!() };
        let files = InputFiles::Disk;
        let wanted = wanted_requests(&args.urls, &args.request, &files).unwrap();
        let urls: Vec<String> = wanted.iter().map(|wanted| wanted.url.clone()).collect();
        let place = LoadTarget::from_urls(&urls, (None, None), None).unwrap();
        build_requests(wanted, &place, &args.request, &args.connection, &files, 7)
    }

    #[test]
    fn random_values_follow_the_seed_whatever_is_spoken() {
        for url in ["http://127.0.0.1:1/a", "grpc://127.0.0.1:1/a.B/C"] {
            assert_eq!(requests(&[url, "-H", "X-Id: {{uuid}}"]).unwrap().seed, 7, "{url}");
        }
    }

    #[test]
    fn a_header_of_a_listed_request_takes_the_place_of_that_of_the_flags() {
        let list = tempfile::NamedTempFile::new().unwrap();
        for url in ["http://127.0.0.1:1/a", "grpc://127.0.0.1:1/a.B/C"] {
            std::fs::write(list.path(), format!("{url}\nX-A: own\nContent-Type: application/grpc+proto\n")).unwrap();
            let flags = ["--urls", list.path().to_str().unwrap(), "-H", "x-a: flag", "-H", "X-B: flag"];
            let RequestSpec { headers, .. } = requests(&flags).unwrap().list.remove(0);
            for (name, value) in [("x-a", "own"), ("x-b", "flag"), ("content-type", "application/grpc+proto")] {
                let found: Vec<_> = headers.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name)).collect();
                assert!(matches!(found[..], [(_, only)] if only == value), "{url}: {headers:?}");
            }
        }
    }

    #[test]
    fn a_variable_that_no_call_fills_is_refused() {
        let message =
            |json: &str| requests(&["grpc://127.0.0.1:1/a.B/C", "--data-json", json, "--protoset", "/dev/null"]);
        let error = message(r#"{"id": "{{counter}}"}"#).unwrap_err().to_string();
        assert!(error.contains("messages of gRPC have none") && error.contains(r"\u007b{"), "{error}");
        let other = message(r#"{"id": "\u007b{counter}}"}"#).unwrap_err().to_string();
        assert!(!other.contains("variable"), "{other}");
    }

    #[test]
    fn every_call_has_the_message_of_a_file_that_can_be_read_once() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"message").unwrap();
        drop(writer);
        let file = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let calls = requests(&["grpc://127.0.0.1:1/a.B/C", "grpc://127.0.0.1:1/a.B/D", "-D", &file]).unwrap().list;
        assert_eq!(calls.len(), 2);
        for call in calls {
            assert!(matches!(&call.body, Body::Bytes(bytes) if bytes.ends_with(b"message")), "{call:?}");
        }
    }
}
