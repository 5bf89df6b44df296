//! Sends figures to an OpenTelemetry collector by OTLP/HTTP. Why this is no OpenTelemetry SDK:
//! docs/adr/0011-figures-for-a-collector.md.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use tare_report::clean::sanitize_line;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, RequestBuilder, http};
use url::Url;

use crate::console;

/// As in the specification of OTLP exporters, which also names the variable.
const TIMEOUT: Duration = Duration::from_secs(10);
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// Of an answer that is an error, so much is read.
const MOST_ANSWER_BYTES: u64 = 64 * 1024;
const SHOWN_LETTERS: usize = 300;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ExportAnswer {
    partial_success: Option<PartialSuccess>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    /// A 64-bit integer, which some write as a text.
    rejected_data_points: serde_json::Value,
    error_message: String,
}

/// Sends one request of metrics, and says so.
///
/// # Errors
/// The collector cannot be reached, refuses the request or some of its points, or a header is not of the form `name=value`.
pub fn send_metrics(url: &Url, request: &str) -> anyhow::Result<()> {
    let headers = std::env::var(HEADERS).unwrap_or_default();
    let wanted = with_headers(agent(url).post(url.as_str()), &headers)?;
    let sent = wanted.header("content-type", "application/json").send(request);
    let answer = sent.with_context(|| {
        format!(
            "cannot send to the collector at {url}; is its receiver for OTLP over HTTP switched on? (usual port: 4318)"
        )
    })?;
    accept(url, answer)?;
    console::print_note(&format!("sent the figures to {url}"));
    Ok(())
}

fn agent(url: &Url) -> Agent {
    let mut config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT));
    if url.scheme() == "https" {
        let found = rustls_native_certs::load_native_certs().certs;
        let roots: Vec<Certificate<'static>> =
            found.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        config = config.tls_config(tls);
    }
    config.build().into()
}

/// The headers of a text such as `api-key=secret,x-team=web`. Values are percent-encoded.
fn with_headers<B>(mut request: RequestBuilder<B>, headers: &str) -> anyhow::Result<RequestBuilder<B>> {
    for header in headers.split(',').map(str::trim).filter(|header| !header.is_empty()) {
        let (name, value) = header
            .split_once('=')
            .with_context(|| format!("the variable {HEADERS} has a part without \"=\"; write name=value,name=value"))?;
        let value = percent_decode_str(value.trim()).decode_utf8_lossy().into_owned();
        request = request.header(name.trim(), value);
    }
    Ok(request)
}

/// An answer says that all was taken, that some of it was rejected, or that nothing was.
fn accept(url: &Url, mut answer: http::Response<Body>) -> anyhow::Result<()> {
    let status = answer.status();
    let text = answer.body_mut().with_config().limit(MOST_ANSWER_BYTES).read_to_string().unwrap_or_default();
    let shown: String = sanitize_line(&text).chars().take(SHOWN_LETTERS).collect();
    ensure!(status.is_success(), "the collector at {url} answered {status}: {shown}");
    let parsed: ExportAnswer = serde_json::from_str(&text).unwrap_or_default();
    let partial = parsed.partial_success.unwrap_or_default();
    let rejected = partial.rejected_data_points.to_string();
    let is_none_rejected = matches!(rejected.trim_matches('"'), "null" | "0" | "");
    ensure!(
        is_none_rejected,
        "the collector at {url} rejected {} figures: {}",
        rejected.trim_matches('"'),
        sanitize_line(&partial.error_message)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_pairs_with_encoded_values() {
        let url = Url::parse("http://127.0.0.1:4318/v1/metrics").unwrap();
        let request = with_headers(agent(&url).post(url.as_str()), "api-key=a%20b, x-team=web,").unwrap();
        let headers = request.headers_ref().unwrap();
        assert_eq!((headers["api-key"].to_str().unwrap(), headers["x-team"].to_str().unwrap()), ("a b", "web"));
        let Err(error) = with_headers(agent(&url).post(url.as_str()), "no pair") else { panic!("a part without =") };
        assert!(error.to_string().contains("OTEL_EXPORTER_OTLP_HEADERS"));
    }
}
