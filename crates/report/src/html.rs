//! The page: the built template with the data inside, packed so that no server's text can become markup.

mod packed;

use std::io::Read;

use flate2::read::ZlibDecoder;
use serde::de::Error as _;

use crate::clean::sanitize_line;
use crate::error::ReportError;
use packed::packed;
use tare_analysis::summary::Summary;

/// The page of `web/`, or where that was not built, a small one that says so; compressed by the build script.
const PACKED_TEMPLATE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/report.html.zlib"));

const SUMMARY: &str = "__TARE_SUMMARY__";
/// Where the packed details go, a line for each panel.
const DETAILS: &str = "__TARE_DETAILS__";
const TITLE: &str = "<title>tare report</title>";

pub fn render(summary: &Summary) -> Result<String, ReportError> {
    let [first, details] = packed(summary)?;
    let title = format!("<title>{}</title>", escape_html(&summary.headline.text));
    // The title goes last: unlike the packed data, it can contain a placeholder.
    let page = template()?.replacen(SUMMARY, &first, 1).replacen(DETAILS, &details, 1);
    Ok(page.replacen(TITLE, &title, 1))
}

fn template() -> Result<String, ReportError> {
    let mut template = String::new();
    ZlibDecoder::new(PACKED_TEMPLATE).read_to_string(&mut template).map_err(serde_json::Error::custom)?;
    Ok(template)
}

pub(crate) fn escape_line(text: &str) -> String {
    escape_html(&sanitize_line(text))
}

/// What others wrote, as text or as the value of an attribute.
pub(crate) fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_have_a_place_for_the_data() {
        let (template, fallback) = (template().unwrap(), include_str!("fallback.html"));
        for place in [SUMMARY, DETAILS, TITLE] {
            assert_eq!((template.matches(place).count(), fallback.matches(place).count()), (1, 1), "{place}");
        }
    }
}
