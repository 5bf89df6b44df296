//! The requests of a load, from the flags.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use tare_load::{Body, Feed, FeedFormat, ListedUrl, Method, RequestSpec, Requests, parse_url_list};

use super::files::InputFiles;
use crate::args::{ConnectionArgs, RequestArgs};

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
    let listed = parse_url_list(&file.display().to_string(), &text_of(file, "the list of URLs", files)?)?;
    let base = urls.first().map(|base| base.trim_end_matches('/'));
    let wanted = |line: ListedUrl| {
        let url = match (line.url.starts_with('/'), base) {
            (false, _) => line.url,
            (true, Some(base)) => format!("{base}{}", line.url),
            (true, None) => {
                bail!(
                    "{}, line {}: {} is a path; add the URL of its server to the command line",
                    file.display(),
                    line.line,
                    line.url
                )
            }
        };
        Ok(Wanted { weight: line.weight, method: line.method, url })
    };
    listed.into_iter().map(wanted).collect()
}

/// The requests, with what fills their variables.
pub fn build_requests(
    wanted: &[Wanted],
    paths: &[String],
    args: &RequestArgs,
    connection: &ConnectionArgs,
    files: &InputFiles,
    seed: u64,
) -> anyhow::Result<Requests> {
    let body = body(args, files)?;
    let method = match &args.method {
        Some(name) => Method::from_name(name)
            .map_err(|_| anyhow::anyhow!("\"{name}\" is not an HTTP method; write for example GET"))?,
        None if body.is_some() => Method::post(),
        None => Method::get(),
    };
    let (headers, body) = (headers(args, connection)?, body.unwrap_or_default());
    let request = |(wanted, path): (&Wanted, &String)| RequestSpec {
        headers: headers.clone(),
        body: body.clone(),
        checks: args.check.clone(),
        weight: wanted.weight,
        ..RequestSpec::new(wanted.method.clone().unwrap_or(method.clone()), path)
    };
    let open = |file: &PathBuf| Ok::<_, anyhow::Error>(feed(file, files)?.in_order(args.feed_order));
    Ok(Requests {
        list: wanted.iter().zip(paths).map(request).collect(),
        feeds: args.feed.iter().map(open).collect::<Result<_, _>>()?,
        think: args.think.unwrap_or_default(),
        seed,
    })
}

fn headers(args: &RequestArgs, connection: &ConnectionArgs) -> anyhow::Result<Vec<(String, String)>> {
    let mut headers = args.header.iter().map(|line| header(line)).collect::<anyhow::Result<Vec<_>>>()?;
    let is_connection = |(name, _): &(String, String)| name.eq_ignore_ascii_case("connection");
    if connection.no_keepalive && headers.iter().any(is_connection) {
        bail!("--no-keepalive sends the header Connection: close; remove Connection from -H, or leave out the flag");
    }
    let mut add = |name: &str, value: Option<String>| {
        let given = headers.iter().any(|(known, _): &(String, String)| known.eq_ignore_ascii_case(name));
        headers.extend(value.filter(|_| !given).map(|value| (name.to_owned(), value)));
    };
    add("Content-Type", args.content_type.clone());
    add("Accept", args.accept.clone());
    add("Authorization", args.basic_auth.as_ref().map(|pair| format!("Basic {}", BASE64_STANDARD.encode(pair))));
    add("Connection", connection.no_keepalive.then(|| "close".to_owned()));
    Ok(headers)
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
            checked.map_err(|why| anyhow::anyhow!("the body of --data-json is not valid JSON: {why}"))?;
        }
        return Ok(Some(Body::Json(text)));
    }
    if !args.form.is_empty() {
        let field = |field: &String| {
            let pair = field.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            pair.ok_or_else(|| anyhow::anyhow!("--form \"{field}\" has no value; write NAME=VALUE"))
        };
        return Ok(Some(Body::Form(args.form.iter().map(field).collect::<Result<_, _>>()?)));
    }
    match (&args.data, &args.body_file) {
        (Some(text), _) => Ok(Some(Body::Text(text_or_file(text, files)?))),
        (None, Some(file)) => {
            let contents = files.contents(file).with_context(|| unreadable(file, "the body"))?;
            Ok(Some(Body::from(contents)))
        }
        (None, None) => Ok(None),
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
        bail!("-H \"{line}\" is not a header; write for example 'Accept: text/html'")
    };
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
