//! Servers of a suite that are like another one, with another Java, other options, variables or arguments.

use std::collections::BTreeMap;

use super::Suite;
use crate::PlanError;
use crate::plan::{Changes, CommandServer, HttpVersion, TransportKeys};

type Servers = BTreeMap<String, CommandServer>;

impl Suite {
    /// Makes whole servers of those that are like another one of the suite. One that is like a server of the catalog keeps
    /// the name of that and all changes on the way: what it starts is known when the plan is made.
    pub(super) fn resolve_likes(&mut self) -> Result<(), PlanError> {
        let written = self.servers.clone();
        for (name, server) in &written {
            let checked = if server.like.is_some() { check_with_like(server) } else { check_without_like(server) };
            let whole = checked.and_then(|()| whole_server(&written, name, &[]));
            let whole = whole.and_then(|whole| check_with_catalog(server, &whole).map(|()| whole));
            let whole =
                whole.map_err(|(key, message)| self.value_error(&format!("[servers.{name}] {key}"), message))?;
            self.servers.insert(name.clone(), whole);
        }
        Ok(())
    }
}

/// An error: its key, and what is wrong.
type Wrong = (&'static str, String);

/// Options without another server's to add them to belong into the command.
fn check_without_like(server: &CommandServer) -> Result<(), Wrong> {
    server.first_given(&["java", "jvm_options", "args"]).map_or(Ok(()), |key| {
        Err((key, "changes another server; name it with like, or write all in command".to_owned()))
    })
}

fn check_with_like(server: &CommandServer) -> Result<(), Wrong> {
    if let Some(key) = server.first_given(&["command", "url", "build", "cwd", "ready", "base_url"]) {
        return Err((key, "is that of the server named by like; leave out one of them".to_owned()));
    }
    let changing = ["java", "jvm_options", "env", "args", "files", "in_front_of"];
    if server.first_given(&[&changing[..], &TransportKeys::NAMES].concat()).is_none() {
        let message = "changes nothing; add java, jvm_options, env, args, files, in_front_of, protocol, streams, \
                       resumption or tls"
            .to_owned();
        return Err(("like", message));
    }
    Ok(())
}

/// Refuses what a server that is like one of the catalog cannot have. `whole` is the same server with what it takes over.
fn check_with_catalog(server: &CommandServer, whole: &CommandServer) -> Result<(), Wrong> {
    let Some(of_catalog) = &whole.like else { return Ok(()) };
    if whole.tls.is_some() && whole.protocol != Some(HttpVersion::H2) {
        let message =
            format!("{of_catalog} is of the catalog, whose servers speak TLS with protocol = \"h2\" only; write that");
        return Err(("tls", message));
    }
    server
        .first_given(&["in_front_of", "files"])
        .map_or(Ok(()), |key| Err((key, format!("{of_catalog} is of the catalog, which has no proxies; leave it out"))))
}

/// The server `name` with what it takes over from the one that it is like. `way` has the servers that are like it.
fn whole_server<'a>(written: &'a Servers, name: &'a str, way: &[&'a str]) -> Result<CommandServer, Wrong> {
    let server = &written[name];
    let Some(like) = &server.like else { return Ok(server.clone()) };
    if like == name {
        return Err(("like", format!("\"{like}\" is the server itself; name another one")));
    }
    let way = [way, &[name]].concat();
    if way.contains(&like.as_str()) {
        let names = way.join(" → ");
        return Err(("like", format!("goes round in a circle: {names} → {like}; let one of them have a command")));
    }
    let baseline = server.baseline.clone().or_else(|| Some(like.clone()));
    let own = CommandServer { baseline, ..server.clone() };
    if written.contains_key(like) { over(own, &whole_server(written, like, &way)?, like) } else { Ok(own) }
}

/// `own`, and those of `like` that are not stated there and have a meaning in the protocol.
fn keys_over(own: TransportKeys, like: TransportKeys) -> TransportKeys {
    let mut keys = own.clone().or(like);
    if keys.protocol == Some(HttpVersion::Http1) {
        keys.streams = own.streams;
    }
    if keys.protocol == Some(HttpVersion::H2c) {
        keys.tls = own.tls;
    }
    if matches!(keys.protocol, Some(HttpVersion::Http1 | HttpVersion::H2c)) && keys.tls.is_none() {
        keys.resumption = own.resumption;
    }
    keys
}

/// `server` with what `base`, which it is like, has and it does not state. `base` is whole, and is called `like`.
fn over(server: CommandServer, base: &CommandServer, like: &str) -> Result<CommandServer, Wrong> {
    if base.url.is_some() {
        return Err(("like", format!("\"{like}\" runs already; only a server that tare starts can be changed")));
    }
    let own = server.changes();
    let Changes { java, jvm_options, env, args } = own.clone().after(base.changes());
    let keys = keys_over(server.transport_keys(), base.transport_keys());
    let whole = CommandServer {
        java,
        jvm_options,
        env,
        args,
        baseline: server.baseline,
        kind: server.kind.or_else(|| base.kind.clone()),
        routes: server.routes.or(base.routes),
        counters: server.counters.or(base.counters),
        in_front_of: server.in_front_of.or_else(|| base.in_front_of.clone()),
        files: base.files.clone().into_iter().chain(server.files).collect(),
        ..base.clone()
    };
    let whole = whole.asked_in(keys);
    if whole.like.is_some() {
        return Ok(whole);
    }
    let mut command = base.command.clone();
    own.apply(&mut command).map_err(|message| (if own.java.is_some() { "java" } else { "jvm_options" }, message))?;
    Ok(CommandServer {
        command,
        // All changes are in the command. The others stay: the JVM is asked for its opinion of them before the run.
        args: Vec::new(),
        differs: (own != Changes::default()).then(|| format!("is {like} with {}", own.text(&base.command))),
        ..whole
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[servers.app]\ncommand = [\"java\", \"-Xmx1g\", \"-XX:+UseG1GC\", \"-jar\", \"app.jar\", \"{port}\"]\n\
        env = { A = \"1\", B = \"1\" }\ncwd = \"app\"\nbuild = \"make\"\n";

    fn suite(more: &str) -> Result<Suite, String> {
        Suite::parse("my.toml", &format!("{BASE}{more}")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_server_takes_over_what_it_does_not_change() {
        let text = "[servers.zgc]\nlike = \"app\"\njvm_options = [\"-XX:+UseZGC\"]\nenv = { B = \"2\" }\n\
            [servers.big]\nlike = \"zgc\"\njvm_options = [\"-Xmx4g\"]\nbaseline = \"app\"\n";
        let suite = suite(text).unwrap();
        let zgc = &suite.servers["zgc"];
        assert_eq!(zgc.command, ["java", "-Xmx1g", "-XX:+UseZGC", "-jar", "app.jar", "{port}"]);
        assert_eq!((zgc.env["A"].as_str(), zgc.env["B"].as_str(), zgc.baseline.as_deref()), ("1", "2", Some("app")));
        assert_eq!(zgc.jvm_options, ["-XX:+UseZGC"], "the JVM is asked before the run");
        assert_eq!((zgc.cwd.as_deref(), zgc.build.as_deref()), (Some("app"), Some("make")));
        assert_eq!(zgc.differs.as_deref(), Some("is app with -XX:+UseZGC instead of -XX:+UseG1GC, B=2"));
        let big = &suite.servers["big"];
        assert_eq!(big.command, ["java", "-XX:+UseZGC", "-Xmx4g", "-jar", "app.jar", "{port}"]);
        assert_eq!((big.env["B"].as_str(), big.baseline.as_deref()), ("2", Some("app")));
        assert_eq!(big.differs.as_deref(), Some("is zgc with -Xmx4g instead of -Xmx1g"));
    }

    #[test]
    fn a_server_takes_over_what_each_server_on_the_way_states() {
        let text = "[servers.h2]\nlike = \"app\"\nprotocol = \"h2c\"\nstreams = 4\nkind = \"two\"\nroutes = 3\n\
            [servers.many]\nlike = \"h2\"\njvm_options = [\"-XX:+UseZGC\"]\nstreams = 8\n\
            [servers.proxy]\ncommand = [\"p\", \"{files}/p.conf\"]\nin_front_of = \"app\"\n\
            files = { \"p.conf\" = \"{upstream}\" }\n\
            [servers.tuned]\nlike = \"proxy\"\nfiles = { \"p.conf\" = \"tuned {upstream}\" }\n\
            [servers.debug]\nlike = \"tuned\"\nargs = [\"--debug\"]\n\
            [servers.of-catalog]\nlike = \"http4s.Tapir\"\nprotocol = \"h2\"\n\
            [servers.trusting]\nlike = \"of-catalog\"\ntls = { insecure = true }\n";
        let suite = suite(text).unwrap();
        let many = &suite.servers["many"];
        assert_eq!((many.protocol, many.streams), (Some(HttpVersion::H2c), Some(8)), "as the server that it is like");
        assert_eq!((many.kind.as_deref(), many.routes, many.baseline.as_deref()), (Some("two"), Some(3), Some("h2")));
        let debug = &suite.servers["debug"];
        assert_eq!((debug.files["p.conf"].as_str(), debug.in_front_of.as_deref()), ("tuned {upstream}", Some("app")));
        assert_eq!((debug.command[2].as_str(), debug.args.len()), ("--debug", 0));
        let trusting = &suite.servers["trusting"];
        assert_eq!((trusting.like.as_deref(), trusting.protocol), (Some("http4s.Tapir"), Some(HttpVersion::H2)));
    }

    #[test]
    fn what_means_nothing_in_its_own_protocol_is_not_taken_over() {
        let text = "[servers.h2]\nlike = \"app\"\nprotocol = \"h2\"\nstreams = 8\nresumption = false\n\
            tls = { insecure = true }\n\
            [servers.secure]\nlike = \"h2\"\nprotocol = \"http1\"\n\
            [servers.plain]\nlike = \"h2\"\nprotocol = \"h2c\"\n\
            [servers.one]\nlike = \"plain\"\nprotocol = \"http1\"\n\
            [servers.loud]\nlike = \"one\"\nargs = [\"-v\"]\n";
        let suite = suite(text).unwrap();
        for (name, protocol, streams, resumption) in [
            ("secure", HttpVersion::Http1, None, Some(false)),
            ("plain", HttpVersion::H2c, Some(8), None),
            ("one", HttpVersion::Http1, None, None),
            ("loud", HttpVersion::Http1, None, None),
        ] {
            let keys = suite.servers[name].transport_keys();
            assert_eq!((keys.protocol, keys.streams, keys.resumption), (Some(protocol), streams, resumption), "{name}");
            assert_eq!(keys.tls.is_some(), resumption.is_some(), "{name}");
        }
    }

    #[test]
    fn a_server_of_the_catalog_keeps_its_name_and_all_changes() {
        let text = "[servers.zgc]\nlike = \"http4s.Tapir\"\njvm_options = [\"-XX:+UseZGC\"]\n\
            [servers.big]\nlike = \"zgc\"\njvm_options = [\"-Xmx4g\"]\n";
        let suite = suite(text).unwrap();
        let big = &suite.servers["big"];
        assert_eq!(big.like.as_deref(), Some("http4s.Tapir"));
        assert_eq!(big.jvm_options, ["-XX:+UseZGC", "-Xmx4g"]);
        assert_eq!(big.baseline.as_deref(), Some("zgc"), "it is compared with what it is like");
        assert_eq!(suite.servers["zgc"].baseline.as_deref(), Some("http4s.Tapir"));
    }

    #[test]
    fn what_cannot_be_is_refused_with_key_and_remedy() {
        for (text, says) in [
            ("[servers.a]\nlike = \"a\"\nargs = [\"x\"]", "[servers.a] like: \"a\" is the server itself"),
            (
                "[servers.a]\nlike = \"b\"\nargs = [\"x\"]\n[servers.b]\nlike = \"a\"\nargs = [\"x\"]",
                "[servers.a] like: goes round in a circle: a → b → a; let one of them have a command",
            ),
            ("[servers.a]\nlike = \"app\"", "[servers.a] like: changes nothing; add java, jvm_options"),
            (
                "[servers.a]\nlike = \"app\"\ncommand = [\"x\"]",
                "[servers.a] command: is that of the server named by like",
            ),
            ("[servers.a]\nlike = \"app\"\nurl = \"http://a:1\"\nargs = [\"x\"]", "[servers.a] url: is that of"),
            (
                "[servers.a]\ncommand = [\"x\"]\nargs = [\"y\"]",
                "[servers.a] args: changes another server; name it with like",
            ),
            (
                "[servers.u]\nurl = \"http://a:1\"\n[servers.a]\nlike = \"u\"\nargs = [\"x\"]",
                "[servers.a] like: \"u\" runs already",
            ),
            (
                "[servers.s]\ncommand = [\"./run\"]\n[servers.a]\nlike = \"s\"\njvm_options = [\"-Xmx1g\"]",
                "[servers.a] jvm_options: is for a JVM, and the command has no word java",
            ),
        ] {
            let error = suite(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
