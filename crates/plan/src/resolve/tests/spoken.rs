//! What servers and scenarios state of connections: who wins, what contradicts, and what the plan lists.

use super::{names, plan, strings};
use crate::plan::Plan;
use crate::settings::Options;

const SERVERS: &str = "[run]\nusers = 8\n\
    [servers.app]\ncommand = [\"./app\"]\n\
    [servers.layer]\ncommand = [\"./layer\"]\nbaseline = \"app\"\n\
    [scenarios.Get]\nrequest = { path = \"/\" }\nexpect = { status = 200 }\n";

/// A scenario that states this.
fn scenario(name: &str, keys: &str) -> String {
    format!("[scenarios.{name}]\nrequest = {{ path = \"/\" }}\nexpect = {{ status = 200 }}\n{keys}\n")
}

fn spoken(plan: &Plan) -> Vec<(String, Vec<String>)> {
    let texts = |group: &crate::plan::Group| {
        let texts = group.variants.iter().map(|variant| variant.program.transport().text()).collect();
        (group.scenarios.iter().map(|named| named.name.as_str()).collect::<Vec<_>>().join(" "), texts)
    };
    plan.groups.iter().map(texts).collect()
}

/// The rows of the plan's list about connections.
fn listed(plan: &Plan) -> Vec<String> {
    let rows = plan.settings.iter().filter(|setting| setting.section == "connections");
    rows.map(|row| format!("{} {} {} {}", row.key, row.value, row.source.name(), row.meaning)).collect()
}

#[test]
fn a_scenario_is_sent_in_what_it_states_and_the_others_as_before() {
    let text = format!(
        "{SERVERS}{}{}",
        scenario("Two", "protocol = \"h2c\"\nstreams = 4"),
        scenario("Tls", "protocol = \"h2\"\ntls = { ca = \"ca.pem\" }\nresumption = false")
    );
    let plan = plan(&text, Options::default()).unwrap();
    let both = |text: &str| strings(&[text, text]);
    assert_eq!(
        spoken(&plan),
        [
            ("Get".to_owned(), both("HTTP/1.1")),
            ("Tls".to_owned(), both("HTTP/2 over TLS without resumption")),
            ("Two".to_owned(), both("HTTP/2, 4 streams a connection")),
        ]
    );
    assert_eq!(names(&plan)[1].1, strings(&["app over h2", "layer over h2"]));
    let tls = plan.groups[1].variants[0].program.transport().tls.unwrap();
    assert_eq!(tls.ca.as_deref(), Some("suites/ca.pem"), "it stands beside the suite");
    let says = " These speak HTTP/2, 4 streams a connection in Two: app, layer.";
    assert!(plan.question.ends_with(says), "{}", plan.question);
    assert_eq!(
        listed(&plan),
        [
            "protocol http1 default of app, layer",
            "protocol h2 suite of app over h2, layer over h2, by suites/s.toml: [scenarios.Tls] protocol",
            "protocol h2c suite of app over h2c, layer over h2c, by suites/s.toml: [scenarios.Two] protocol",
            "streams 1 default of app over h2, layer over h2",
            "streams 4 suite of app over h2c, layer over h2c, by suites/s.toml: [scenarios.Two] streams",
            "resumption false suite of app over h2, layer over h2, by suites/s.toml: [scenarios.Tls] resumption",
            "tls suites/ca.pem suite of app over h2, layer over h2, by suites/s.toml: [scenarios.Tls] tls",
        ]
    );
}

#[test]
fn server_and_scenario_win_over_the_run_and_must_agree_with_each_other() {
    let of_server =
        |keys: &str| SERVERS.replace("command = [\"./layer\"]", &format!("command = [\"./layer\"]\n{keys}"));
    // The server's protocol, the scenario's streams, and the flag for the rest.
    let text = of_server("protocol = \"h2c\"") + &scenario("Two", "streams = 4");
    let flags = Options { streams: Some(2), ..Options::default() };
    let mixed = plan(&text, flags).unwrap();
    assert_eq!(
        spoken(&mixed),
        [
            ("Get".to_owned(), strings(&["HTTP/1.1", "HTTP/2, 2 streams a connection"])),
            ("Two".to_owned(), strings(&["HTTP/1.1", "HTTP/2, 4 streams a connection"])),
        ]
    );
    assert!(listed(&mixed).contains(&"streams 2 flag of layer, by --streams".to_owned()), "{:?}", listed(&mixed));
    let same = of_server("protocol = \"h2c\"") + &scenario("Two", "protocol = \"h2c\"");
    assert!(plan(&same, Options::default()).is_ok());
    let refused = |text: &str, flags| plan(text, flags).unwrap_err().to_string();
    for (server, of_scenario, says) in [
        (
            "protocol = \"http1\"",
            "protocol = \"h2c\"",
            "suites/s.toml: [scenarios.Two] protocol: \"h2c\" contradicts [servers.layer] protocol = \"http1\"; leave out one",
        ),
        (
            "protocol = \"h2c\"\nstreams = 2",
            "streams = 4",
            "[scenarios.Two] streams: \"4\" contradicts [servers.layer] streams = \"2\"",
        ),
        ("", "protocol = \"h2c\"\ntls = {}", "suites/s.toml: [scenarios.Two] protocol: \"h2c\" is HTTP/2 without TLS"),
        (
            "",
            "protocol = \"http1\"\nstreams = 2",
            "suites/s.toml: [scenarios.Two] streams: are of HTTP/2; write protocol",
        ),
        (
            "",
            "protocol = \"h2c\"\nresumption = true",
            "suites/s.toml: [scenarios.Two] resumption: is of TLS; write tls",
        ),
        (
            "resumption = false",
            "",
            "suites/s.toml: [servers.layer] resumption: is of TLS; write tls or protocol = \"h2\"",
        ),
        (
            "",
            "protocol = \"h2c\"\nstreams = 3",
            "suites/s.toml: [scenarios.Two] streams: 3 on a connection do not divide 8",
        ),
    ] {
        let error = refused(&(of_server(server) + &scenario("Two", of_scenario)), Options::default());
        assert!(error.contains(says), "{server} {of_scenario}: {error}");
    }
    let error = refused(SERVERS, Options { resumption: Some(false), ..Options::default() });
    assert!(error.starts_with("--no-resumption: is of TLS, and no server is asked over it"), "{error}");
}
