//! The JSON format of speedscope.

use serde_json::json;

use super::Unit;
use crate::stacks::Stacks;

/// The stacks as a file for speedscope. Source: speedscope, "Importing from custom sources": a profile of type
/// `sampled`.
pub fn write_speedscope(stacks: &Stacks, name: &str, unit: Unit) -> String {
    let frames: Vec<_> = stacks.frames().iter().map(|frame| json!({ "name": frame.name })).collect();
    let samples: Vec<&[u32]> = stacks.iter().map(|stack| stack.frames.as_slice()).collect();
    let weights: Vec<u64> = stacks.iter().map(|stack| stack.weight).collect();
    let unit = match unit {
        Unit::Samples => "none",
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
    };
    let profile = json!({
        "type": "sampled", "name": name, "unit": unit, "startValue": 0, "endValue": stacks.total_weight(),
        "samples": samples, "weights": weights,
    });
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": "tare", "name": name, "activeProfileIndex": 0,
        "shared": { "frames": frames }, "profiles": [profile],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collapsed::parse_collapsed;

    #[test]
    fn each_stack_is_a_sample_of_its_weight() {
        let text = write_speedscope(&parse_collapsed("a;b 3\na 4\n").unwrap(), "n", Unit::Bytes);
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let profile = &file["profiles"][0];
        assert_eq!((&profile["samples"], &profile["weights"]), (&json!([[0, 1], [0]]), &json!([3, 4])));
        assert_eq!((&profile["endValue"], &profile["unit"]), (&json!(7), &json!("bytes")));
        assert_eq!(file["shared"]["frames"][1]["name"], "b");
    }
}
