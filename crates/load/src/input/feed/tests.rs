//! Feeds of all formats, correct and broken.

use super::*;

fn parse(format: &str, text: &str) -> Result<Feed, LoadError> {
    let file = format!("users.{format}");
    Feed::parse(&file, FeedFormat::of_contents(Path::new(&file), b"")?, text.as_bytes())
}

#[test]
fn all_formats_make_the_same_table() {
    for (format, text) in [
        ("csv", "id,name\n1,\"a,b\"\n2,ö\n"),
        ("csv", "\u{feff}id , name\r\n1,\"a,b\"\r\n2,ö"),
        ("tsv", "id\tname\n1\ta,b\n2\tö\n"),
        ("json", r#"[{"id": 1, "name": "a,b"}, {"name": "ö", "id": 2, "more": null}]"#),
        ("json", "\u{feff}[{\"id\": 1, \"name\": \"a,b\"}, {\"id\": 2, \"name\": \"ö\"}]"),
        ("jsonl", "{\"id\": 1, \"name\": \"a,b\"}\n\n{\"name\": \"ö\", \"id\": 2}\n"),
    ] {
        let feed = parse(format, text).unwrap();
        assert_eq!(feed.columns(), ["id", "name"], "{format}");
        let cells: Vec<&str> = (0..2)
            .flat_map(|row| (0..2).map(move |column| (row, column)))
            .map(|(row, column)| feed.table.cell(row, column))
            .collect();
        assert_eq!(cells, ["1", "a,b", "2", "ö"], "{format}");
    }
}

#[test]
fn values_other_than_text_stand_for_their_json() {
    let feed = parse("jsonl", r#"{"a": true, "b": 1.5, "c": null, "d": {"e": [1]}, "f": ""}"#).unwrap();
    let cells: Vec<&str> = (0..5).map(|column| feed.table.cell(0, column)).collect();
    assert_eq!(cells, ["true", "1.5", "null", r#"{"e":[1]}"#, ""]);
}

#[test]
fn numbers_of_json_stay_as_they_are_written() {
    let text = r#"[{"f": 1.10, "id": 9007199254740993, "v": 12345678901234567890123, "w": {"a": 1.0, "b": "x \" y"}}]"#;
    let feed = parse("json", text).unwrap();
    let cells: Vec<&str> = (0..4).map(|column| feed.table.cell(0, column)).collect();
    assert_eq!(cells, ["1.10", "9007199254740993", "12345678901234567890123", r#"{"a":1.0,"b":"x \" y"}"#]);
}

#[test]
fn a_feed_without_a_telling_name_shows_its_form() {
    for (text, format) in [
        ("id,name\n1,a\n", FeedFormat::Separated(b',')),
        ("id\n1\n", FeedFormat::Separated(b',')),
        ("id\tname\n1\ta,b\n", FeedFormat::Separated(b'\t')),
        (" [{\"id\": 1}]", FeedFormat::Json),
        ("\u{feff}{\"id\": 1}\n", FeedFormat::JsonLines),
    ] {
        for name in ["/dev/stdin", "-", "/dev/fd/63"] {
            assert_eq!(FeedFormat::of_contents(Path::new(name), text.as_bytes()).unwrap(), format, "{text}");
        }
        let named = FeedFormat::of_contents(Path::new("a.tsv"), text.as_bytes());
        assert_eq!(named.unwrap(), FeedFormat::Separated(b'\t'));
    }
    let recording = FeedFormat::of_contents(Path::new("page.HAR"), b"{}").unwrap_err().to_string();
    assert!(recording.contains("a recording of requests, and no table; give it with --har"), "{recording}");
    let kind = FeedFormat::of_contents(Path::new("users.xml"), b"<users>").unwrap_err().to_string();
    assert!(kind.contains("users.xml") && kind.contains(".csv"), "{kind}");
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (format, text, place, what) in [
        ("csv", "", "users.csv", "it has no columns"),
        ("csv", "id,name\n", "users.csv", "it has no rows"),
        ("csv", "id,id\n1,2\n", "users.csv", "two columns `id`"),
        ("csv", "id,\n1,2\n", "line 1, field 2", "no name"),
        ("csv", "id,name\n1,a\n2\n", "line 3", "1 fields where the first line names 2 columns"),
        ("csv", "id,name\n1,\"a\nb\"\n2,b,c\n", "line 4", "3 fields"),
        ("csv", "id\n1\n\"2\n3\n4\n", "users.csv, line 3", "a quote is opened and not closed"),
        ("csv", "id\n\"1\"\"\n", "users.csv, line 2", "a quote is opened and not closed"),
        ("csv", "id,name\n1,\"a\nb\"c\n", "users.csv, line 3", "text follows a closing quote"),
        ("tsv", "id\tname\n1\t\"a\",b\n", "users.tsv, line 2", "text follows a closing quote"),
        ("json", "[{\"id\": 1},\n {\"id\" 2}]", "line 2, column 8", "expected `:`"),
        ("json", "{\"id\": 1}", "line 1, column 0", "expected a sequence"),
        ("json", "[]", "users.json", "it has no rows"),
        ("json", "[{}]", "users.json", "it has no columns"),
        ("json", "[{\"id\": 1}, {\"no\": 2}]", "entry 2", "there is no `id`"),
        ("jsonl", "{\"id\": 1}\n\n{\"id\": }\n", "line 3, column 8", "expected value"),
        ("jsonl", "{\"id\": 1}\n{}\n", "line 2", "there is no `id`"),
        ("jsonl", "\n", "users.jsonl", "it has no rows"),
    ] {
        let error = parse(format, text).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(what), "{text:?}: {error}");
    }
    let latin = Feed::parse("x.csv", FeedFormat::Separated(b','), b"id,name\n1,\xfc\n").unwrap_err().to_string();
    assert!(latin.contains("x.csv, line 2, field 2: the text is not UTF-8"), "{latin}");
}

#[test]
fn quoted_values_hold_separators_quotes_and_line_breaks() {
    let feed = parse("csv", "id,name\r\n\"\",\"a \"\"b\"\"\r\nc,d\"\r\n5\" , 3\"\n").unwrap();
    let cells: Vec<&str> =
        [(0, 0), (0, 1), (1, 0), (1, 1)].iter().map(|(row, column)| feed.table.cell(*row, *column)).collect();
    assert_eq!(cells, ["", "a \"b\"\r\nc,d", "5\" ", " 3\""]);
}
