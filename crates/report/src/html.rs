//! The page: the built template with the summary inside, as data that no server can turn into markup.

use crate::error::ReportError;
use crate::summary::Summary;

/// The page of `web/`, or where that was not built, a small one that says so.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));

/// Where the summary goes: inside `<script type="application/json">`.
const PLACEHOLDER: &str = "__TARE_SUMMARY__";

/// Where the page that was not built shows the sentences.
const SENTENCES: &str = "__TARE_SENTENCES__";

/// The title of a page without a summary.
const TITLE: &str = "<title>tare report</title>";

/// One self-contained page.
///
/// # Errors
/// As [`crate::json::render`].
pub fn render(summary: &Summary) -> Result<String, ReportError> {
    fill(TEMPLATE, summary)
}

fn fill(template: &str, summary: &Summary) -> Result<String, ReportError> {
    let json = escape_json(&serde_json::to_string(summary)?);
    let items = |s: &crate::summary::Sentence| format!("<li>{}</li>\n", escape_html(&s.text));
    let sentences: String = summary.sentences.iter().map(items).collect();
    // Both sides of the data are cut apart first: a server may be called like a placeholder.
    let (before, after) = template.split_once(PLACEHOLDER).unwrap_or((template, ""));
    let title = format!("<title>{}</title>", escape_html(&summary.headline.text));
    let before = before.replacen(TITLE, &title, 1).replacen(SENTENCES, &sentences, 1);
    Ok(format!("{before}{json}{after}"))
}

/// The same JSON without a character that means something to HTML or to an old JavaScript parser.
fn escape_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            c => safe.push(c),
        }
    }
    safe
}

pub(crate) fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_a_script_cannot_end_it() {
        let json = serde_json::to_string("</script><!--&\u{2028}").unwrap();
        let safe = escape_json(&json);
        assert_eq!(safe, r#""\u003c/script\u003e\u003c!--\u0026\u2028""#);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "</script><!--&\u{2028}");
    }

    #[test]
    fn both_templates_have_a_place_for_the_summary() {
        let fallback = include_str!("fallback.html");
        assert_eq!(TEMPLATE.matches(PLACEHOLDER).count(), 1);
        assert_eq!((TEMPLATE.matches(TITLE).count(), fallback.matches(TITLE).count()), (1, 1));
        assert_eq!((fallback.matches(PLACEHOLDER).count(), fallback.matches(SENTENCES).count()), (1, 1));
    }
}
