//! JSON values as YAML, for manifests that people edit. Every text is quoted where YAML could read it as something else.

use serde_json::Value;

/// Several documents, each after a line `---`.
pub(super) fn yaml_documents(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("---\n{}", block(document, 0))).collect()
}

/// A value that begins on a line of its own, indented by `depth` levels.
fn block(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().map(|(key, value)| format!("{indent}{}:{}", scalar(key), after_key(value, depth))).collect()
        }
        Value::Array(items) if !items.is_empty() => items
            .iter()
            .map(|item| {
                let text = block(item, depth + 1);
                format!("{indent}- {}", text.trim_start())
            })
            .collect(),
        _ => format!("{indent}{}\n", flat(value)),
    }
}

/// A value after its key: on the same line, or as a block below.
fn after_key(value: &Value, depth: usize) -> String {
    match value {
        Value::Object(fields) if !fields.is_empty() => format!("\n{}", block(value, depth + 1)),
        Value::Array(items) if !items.is_empty() => format!("\n{}", block(value, depth + 1)),
        _ => format!(" {}\n", flat(value)),
    }
}

fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A text, plain where nothing could be read into it. JSON's quotes are also YAML's.
fn scalar(text: &str) -> String {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-./_".contains(c));
    let means_more = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    match is_word && !means_more.contains(&text.to_ascii_lowercase().as_str()) {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_become_blocks_and_doubtful_texts_are_quoted() {
        let document = json!({
            "args": ["agent", "--wait=5s"], "cpu": "2", "none": [], "yes": true,
            "list": [{"a": 1, "b": {"c": "no"}}, {"a": 2}], "tare/run": "x: y",
        });
        let text = "---\nargs:\n  - agent\n  - \"--wait=5s\"\ncpu: \"2\"\nlist:\n  - a: 1\n    b:\n      c: \"no\"\n  - a: 2\nnone: []\ntare/run: \"x: y\"\n\"yes\": true\n";
        assert_eq!(yaml_documents(&[document]), text);
    }
}
