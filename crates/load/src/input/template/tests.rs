//! Templates, from text to bytes, and their errors.

use super::*;
use crate::error::LoadError;
use crate::input::feed::{Feed, FeedFormat};
use crate::schedule::{Schedule, Share};

fn users() -> Feed {
    Feed::parse("users.csv", FeedFormat::Separated(b','), b"id,name\n7,a b\n8,\"say \"\"hi\"\"\"\n").unwrap()
}

fn parse(text: &str) -> Result<Template, LoadError> {
    Template::parse("path", text, &mut Scope::of(&[users()], UserColumns::default()))
}

/// The first results of filling in the template, by one of several workers.
fn fillings(text: &str, count: usize, share: Share) -> Vec<String> {
    let feeds = [users()];
    let mut scope = Scope::of(&feeds, UserColumns::default());
    let template = Template::parse("path", text, &mut scope).unwrap();
    let uses = Uses::of(template.variables());
    let mut values = Values::new(&feeds, &scope.counters, 1, share);
    let fill = |_| {
        let mut out = Vec::new();
        assert!(values.advance(&uses));
        template.fill(&mut values, &mut out);
        String::from_utf8(out).unwrap()
    };
    (0..count).map(fill).collect()
}

const ALONE: Share = Share { worker: 0, workers: 1 };

#[test]
fn rows_and_counters_go_on_with_each_request_and_stay_within_one() {
    for (text, expected) in [
        ("plain", ["plain", "plain"]),
        ("{{id}}", ["7", "8"]),
        ("/{{ id }}-{{name}}/{{id}}", ["/7-a b/7", "/8-say \"hi\"/8"]),
        ("{{name|url}} {{name | json}}", ["a%20b a b", "say%20%22hi%22 say \\\"hi\\\""]),
        ("{{counter}} {{counter}} {{counter:10}}", ["0 0 10", "1 1 11"]),
        ("\\{{id}} } }} {", ["{{id}} } }} {"; 2]),
        ("", [""; 2]),
    ] {
        assert_eq!(fillings(text, 2, ALONE), expected, "{text:?}");
    }
}

#[test]
fn workers_share_no_counter_and_use_every_number_once() {
    assert_eq!(fillings("{{counter:5}}", 3, Share { worker: 0, workers: 2 }), ["5", "7", "9"]);
    assert_eq!(fillings("{{counter:5}}", 3, Share { worker: 1, workers: 2 }), ["6", "8", "10"]);
}

#[test]
fn random_values_have_their_form_and_follow_from_the_seed() {
    let dice: Vec<i64> = fillings("{{random:-1..2}}", 200, ALONE).iter().map(|die| die.parse().unwrap()).collect();
    assert!((-1..=2).all(|side| dice.contains(&side)) && dice.iter().all(|die| (-1..=2).contains(die)));
    let whole = format!("{{{{random:{}..{}}}}}", i64::MIN, i64::MAX);
    assert!(fillings(&whole, 9, ALONE).iter().all(|number| number.parse::<i64>().is_ok()));
    for digits in [1, 16, 37] {
        let hex = &fillings(&format!("{{{{hex:{digits}}}}}"), 1, ALONE)[0];
        assert!(hex.len() == digits && hex.bytes().all(|digit| digit.is_ascii_hexdigit()), "{hex}");
    }
    let form = regex::Regex::new("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$").unwrap();
    let ids = fillings("{{uuid}}", 5, ALONE);
    assert!(ids.iter().all(|id| form.is_match(id)), "{ids:?}");
    assert_eq!(ids, fillings("{{uuid}}", 5, ALONE));
    assert_ne!(ids, fillings("{{uuid}}", 5, Share { worker: 1, workers: 2 }));
}

#[test]
fn random_values_do_not_follow_the_arrivals_of_their_seed() {
    let starts = Schedule::poisson(1.0).arrivals(1, ALONE).unwrap();
    let mut before_ns = 0;
    let gaps_s = starts.map(|start_ns| (start_ns - std::mem::replace(&mut before_ns, start_ns)) as f64 / 1e9);
    let values = fillings("{{random:0..999999}}", 500, ALONE);
    let values = values.iter().map(|value| value.parse::<f64>().unwrap() / 1e6);
    // A gap is the negative logarithm of a number that is uniform between 0 and 1, as a value is.
    let alike = gaps_s.zip(values).filter(|(gap_s, value)| ((-gap_s).exp() - value).abs() < 0.01).count();
    assert!(alike < 50, "{alike} of 500");
}

#[test]
fn wrong_templates_say_where_and_what_would_be_right() {
    for (text, place, what) in [
        ("/é{{id", "path, character 3", "`{{` without `}}`"),
        ("{{nmae}}", "path, character 1", "did you mean {{name}}? the feeds have the columns id, name"),
        ("{{}}", "character 1", "there is no variable ``"),
        ("{{Uuid}}", "character 1", "did you mean {{uuid}}?"),
        ("{{uuid:4}}", "character 1", "there is no variable `uuid:4`"),
        ("{{id|upper}}", "character 1", "there is no filter `upper`; use |url or |json"),
        ("{{random}}", "character 1", "write {{random:1..6}}"),
        ("{{random:6..1}}", "character 1", "write {{random:1..6}}"),
        ("{{hex:0}}", "character 1", "write {{hex:16}}"),
        ("{{counter:x}}", "character 1", "`x` is no number to count from"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(what), "{text:?}: {error}");
    }
    let alone = Template::parse("path", "{{id}}", &mut Scope::of(&[], UserColumns::default())).unwrap_err().to_string();
    assert!(alone.contains("there is no feed"), "{alone}");
    let twice = Template::parse("path", "{{id}}", &mut Scope::of(&[users(), users()], UserColumns::default()))
        .unwrap_err()
        .to_string();
    assert!(twice.contains("`id` is a column of users.csv and of users.csv; rename one of them"), "{twice}");
}
