//! The requests of a load, from the flags.

use std::path::{Path, PathBuf};

use anyhow::Context;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use tare_load::{
    Body, Feed, FeedFormat, ListedUrl, Method, RequestSpec, Requests, announces_close, grpc_path, parse_url_list,
};
use tare_plan::contract::bytes_of_hex;

use super::files::InputFiles;
use super::place::LoadTarget;
use crate::args::{ConnectionArgs, RequestArgs};
use crate::failure::wrong_usage;
use crate::protoset::Protoset;
use crate::recorded_command::without_secret_parameters;

/// A line of the list of URLs, or a URL of the command line.
#[derive(Debug, Clone)]
pub struct Wanted {
    weight: u32,
    /// `None` for what the flags say.
    method: Option<Method>,
    /// With scheme and host.
    pub url: String,
}

/// The URLs that take turns.
pub fn wanted_requests(urls: &[String], args: &RequestArgs, files: &InputFiles) -> anyhow::Result<Vec<Wanted>> {
    let Some(file) = &args.urls_file else {
        return Ok(urls.iter().map(|url| Wanted { weight: 1, method: None, url: url.clone() }).collect());
    };
    let shown = file.display();
    if let [_, other, ..] = urls {
        return Err(wrong_usage(format!(
            "{other}: only one URL may stand beside --urls, that of the server of its paths; write this one into {shown}"
        )));
    }
    let listed = parse_url_list(&shown.to_string(), &text_of(file, "the list of URLs", files)?)?;
    let base = urls.first().map(|base| base.trim_end_matches('/'));
    let is_path = |line: &ListedUrl| line.url.starts_with('/');
    match base {
        Some(base) if !listed.iter().any(is_path) => {
            return Err(wrong_usage(format!("{base}: {shown} has no paths that it could be for; leave it out")));
        }
        Some(base) if base.contains(['?', '#']) => {
            return Err(wrong_usage(format!(
                "{base}: the paths of {shown} cannot follow a query; write the URL without it"
            )));
        }
        _ => {}
    }
    let wanted = |line: ListedUrl| {
        let url = match (is_path(&line), base) {
            (false, _) => line.url,
            (true, Some(base)) => format!("{base}{}", line.url),
            (true, None) => {
                return Err(wrong_usage(format!(
                    "{shown}, line {}: {} is a path; add the URL of its server to the command line",
                    line.line, line.url
                )));
            }
        };
        Ok(Wanted { weight: line.weight, method: line.method, url })
    };
    listed.into_iter().map(wanted).collect()
}

/// The requests, with what fills their variables.
pub fn build_requests(
    wanted: &[Wanted],
    target: &LoadTarget,
    args: &RequestArgs,
    connection: &ConnectionArgs,
    files: &InputFiles,
    seed: u64,
) -> anyhow::Result<Requests> {
    refuse_variables(args)?;
    if target.is_grpc {
        return calls(wanted, target, args, connection, files);
    }
    let body = body(args, files)?;
    let method = match &args.method {
        Some(name) => Method::from_name(name)
            .map_err(|_| wrong_usage(format!("\"{name}\" is not an HTTP method; write for example GET")))?,
        None if body.is_some() => Method::post(),
        None => Method::get(),
    };
    let (headers, body) = (headers(args, connection)?, body.unwrap_or_default());
    let request = |(wanted, path): (&Wanted, &String)| RequestSpec {
        headers: headers.clone(),
        body: body.clone(),
        checks: args.check.clone(),
        weight: wanted.weight,
        name: Some(format!("{} {}", wanted.method.as_ref().unwrap_or(&method), without_secret_parameters(path))),
        ..RequestSpec::new(wanted.method.clone().unwrap_or(method.clone()), path)
    };
    let open = |file: &PathBuf| Ok::<_, anyhow::Error>(feed(file, files)?.in_order(args.feed_order));
    Ok(Requests {
        list: wanted.iter().zip(&target.paths).map(request).collect(),
        feeds: args.feed.iter().map(open).collect::<Result<_, _>>()?,
        think: args.think.unwrap_or_default(),
        seed,
    })
}

/// The calls of a load on a server of gRPC.
fn calls(
    wanted: &[Wanted],
    target: &LoadTarget,
    args: &RequestArgs,
    connection: &ConnectionArgs,
    files: &InputFiles,
) -> anyhow::Result<Requests> {
    let headers = headers(args, connection)?;
    let protoset = args
        .protoset
        .as_deref()
        .map(|file| {
            Protoset::parse(file, &files.contents(file).with_context(|| unreadable(file, "the descriptor set"))?)
        })
        .transpose()?;
    let mut list = Vec::new();
    for (wanted, path) in wanted.iter().zip(&target.paths) {
        let path = grpc_path(path).map_err(|what| wrong_usage(format!("{}: {what}", wanted.url)))?;
        let message = match (&args.data_json, &protoset) {
            (Some(text), Some(protoset)) => protoset.message(&path, &text_or_file(text, files)?)?,
            _ => bytes(args, files)?.unwrap_or_default(),
        };
        let mut call = RequestSpec { weight: wanted.weight, ..RequestSpec::call(&path, &message) };
        call.headers.retain(|(name, _)| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)));
        call.headers.extend(headers.clone());
        call.checks.extend(args.check.clone());
        list.push(call);
    }
    Ok(Requests { think: args.think.unwrap_or_default(), ..Requests::of(list) })
}

/// The body that is given byte for byte.
fn bytes(args: &RequestArgs, files: &InputFiles) -> anyhow::Result<Option<Vec<u8>>> {
    match (&args.data_hex, &args.body_file) {
        (Some(hex), _) => bytes_of_hex(hex).map(Some).map_err(|what| wrong_usage(format!("--data-hex: {what}"))),
        (None, Some(file)) => files.contents(file).map(Some).with_context(|| unreadable(file, "the body")),
        (None, None) => Ok(None),
    }
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
    let mut headers = args.header.iter().map(|line| header(line)).collect::<anyhow::Result<Vec<_>>>()?;
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
    if connection.http2 && headers.iter().any(|(name, value)| announces_close(name, value)) {
        return Err(wrong_usage(
            "Connection: close has no meaning over HTTP/2, whose connections stay open; remove it from -H, or leave out --http2",
        ));
    }
    Ok(headers)
}

/// Refuses a header of which one value would be ignored.
fn refuse_twice(flag: &str, name: &str, is_given: bool) -> anyhow::Result<()> {
    if is_given {
        return Err(wrong_usage(format!(
            "{flag} sends the header {name}; remove {name} from -H, or leave out the flag"
        )));
    }
    Ok(())
}

/// A table of values; the name of its file says what it is.
fn feed(file: &Path, files: &InputFiles) -> anyhow::Result<Feed> {
    let Some(format) = FeedFormat::of(file) else { return Ok(Feed::open(file)?) };
    let contents = files.contents(file).with_context(|| format!("cannot read the feed {}", file.display()))?;
    Ok(Feed::parse(&file.display().to_string(), format, &contents)?)
}

fn body(args: &RequestArgs, files: &InputFiles) -> anyhow::Result<Option<Body>> {
    if let Some(text) = &args.data_json {
        let text = text_or_file(text, files)?;
        // A variable may stand where no JSON could be.
        if !text.contains("{{") {
            let checked = serde_json::from_str::<serde::de::IgnoredAny>(&text);
            checked.map_err(|why| wrong_usage(format!("the body of --data-json is not valid JSON: {why}")))?;
        }
        return Ok(Some(Body::Json(text)));
    }
    if !args.form.is_empty() {
        let field = |field: &String| {
            let pair = field.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            pair.ok_or_else(|| wrong_usage(format!("--form \"{field}\" has no value; write NAME=VALUE")))
        };
        return Ok(Some(Body::Form(args.form.iter().map(field).collect::<Result<_, _>>()?)));
    }
    match &args.data {
        Some(text) => Ok(Some(Body::Text(text_or_file(text, files)?))),
        None => Ok(bytes(args, files)?.map(Body::from)),
    }
}

fn text_or_file(text: &str, files: &InputFiles) -> anyhow::Result<String> {
    text.strip_prefix('@').map_or_else(|| Ok(text.to_owned()), |file| text_of(Path::new(file), "the body", files))
}

fn text_of(file: &Path, what: &str, files: &InputFiles) -> anyhow::Result<String> {
    files.text(file).with_context(|| unreadable(file, what))
}

fn unreadable(file: &Path, what: &str) -> String {
    format!("cannot read {what} from {}", file.display())
}

fn header(line: &str) -> anyhow::Result<(String, String)> {
    let pair = line.split_once(':').filter(|(name, _)| !name.trim().is_empty());
    let Some((name, value)) = pair else {
        return Err(wrong_usage(format!("-H \"{line}\" is not a header; write for example 'Accept: text/html'")));
    };
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Whether a line of -H is the header of this name.
pub fn is_header(line: &str, name: &str) -> bool {
    line.split_once(':').is_some_and(|(given, _)| given.trim().eq_ignore_ascii_case(name))
}
