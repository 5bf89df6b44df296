//! Servers of a suite that stand in front of another one, and the files that a suite gives its servers.

use super::Suite;
use crate::plan::CommandServer;

/// Placeholder of host and port of the server behind a proxy.
pub const UPSTREAM: &str = "{upstream}";
/// Placeholder of the folder of a server's files.
pub const FILES: &str = "{files}";

impl Suite {
    /// Refuses a proxy whose place is impossible, and texts that tare could not fill in.
    pub(super) fn check_chain(&self, name: &str, server: &CommandServer) -> Result<(), (&'static str, String)> {
        let Some(upstream) = &server.in_front_of else { return check_texts(server) };
        let wrong = |message: String| Err(("in_front_of", message));
        if upstream == name {
            return wrong(format!("\"{name}\" is the server itself; name the server behind it"));
        }
        if server.url.is_some() {
            return wrong("is for a proxy that tare starts; give a command instead of url".to_owned());
        }
        if self.servers.get(upstream).is_some_and(|server| server.url.is_some()) {
            return wrong(format!(
                "\"{upstream}\" runs already, so that its CPU cannot be counted; give it a command instead of url"
            ));
        }
        let mut names = vec![name, upstream];
        while let Some(next) = self.servers.get(names[names.len() - 1]).and_then(|last| last.in_front_of.as_deref()) {
            let is_circle = names.contains(&next);
            names.push(next);
            if is_circle {
                return wrong(format!("goes round in a circle: {}; one of them must be the last", names.join(" → ")));
            }
        }
        check_texts(server)
    }
}

/// A placeholder without its meaning, or the other way round, is a mistake that would show only when the server starts.
fn check_texts(server: &CommandServer) -> Result<(), (&'static str, String)> {
    let has_upstream = server.texts().any(|text| text.contains(UPSTREAM));
    match &server.in_front_of {
        Some(upstream) if !has_upstream => {
            let message = format!(
                "nothing tells the server where {upstream} listens; write {UPSTREAM}, its host and port, in command, env or files"
            );
            return Err(("in_front_of", message));
        }
        None if has_upstream => {
            let message = format!("is missing, and {UPSTREAM} is the address of the server that it names; add it");
            return Err(("in_front_of", message));
        }
        _ => {}
    }
    if let Some(name) = server.files.keys().find(|name| name.contains('/') || ["", ".", ".."].contains(&name.as_str()))
    {
        return Err(("files", format!("\"{name}\" is no name of a file; write it without folders")));
    }
    let has_folder =
        server.command.iter().chain(&server.args).chain(server.env.values()).any(|text| text.contains(FILES));
    match server.files.keys().next() {
        Some(first) if !has_folder => {
            Err(("files", format!("nothing reads them; write {FILES}/{first} in command or env")))
        }
        None if has_folder => Err(("files", format!("is missing, and {FILES} is the folder of these files; add it"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: &str = "[servers.app]\ncommand = [\"./app\", \"{port}\"]\n";

    fn suite(more: &str) -> Result<Suite, String> {
        Suite::parse("my.toml", &format!("{APP}{more}")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_proxy_is_compared_with_the_server_behind_it() {
        let text = "[servers.nginx]\ncommand = [\"nginx\", \"-c\", \"{files}/nginx.conf\"]\nin_front_of = \"app\"\n\
            files = { \"nginx.conf\" = \"{port} {upstream}\" }\n\
            [servers.tuned]\nlike = \"nginx\"\nfiles = { \"nginx.conf\" = \"tuned {upstream}\" }\n\
            [servers.gateway]\ncommand = [\"./gateway\", \"{upstream}\"]\nin_front_of = \"nginx\"\nbaseline = \"app\"\n";
        let suite = suite(text).unwrap();
        let of = |name: &str| {
            let server = &suite.servers[name];
            (server.in_front_of.as_deref(), server.baseline.as_deref())
        };
        assert_eq!(of("nginx"), (Some("app"), Some("app")));
        assert_eq!(of("tuned"), (Some("app"), Some("nginx")), "it is compared with what it is like");
        assert_eq!(suite.servers["tuned"].files["nginx.conf"], "tuned {upstream}");
        assert_eq!(of("gateway"), (Some("nginx"), Some("app")));
        assert_eq!(of("app"), (None, None));
    }

    #[test]
    fn a_chain_that_cannot_be_started_is_refused_with_key_and_remedy() {
        let to = |upstream: &str| format!("command = [\"./p\", \"{{upstream}}\"]\nin_front_of = \"{upstream}\"\n");
        for (text, says) in [
            (format!("[servers.a]\n{}", to("a")), "[servers.a] in_front_of: \"a\" is the server itself"),
            (
                format!("[servers.a]\n{}[servers.b]\n{}", to("b"), to("a")),
                "[servers.a] in_front_of: goes round in a circle: a → b → a; one of them must be the last",
            ),
            (
                format!("[servers.u]\nurl = \"http://a:1\"\n[servers.a]\n{}", to("u")),
                "[servers.a] in_front_of: \"u\" runs already, so that its CPU cannot be counted; give it a command",
            ),
            (
                "[servers.a]\nurl = \"http://a:1\"\nin_front_of = \"app\"".to_owned(),
                "[servers.a] in_front_of: is for a proxy that tare starts",
            ),
            (
                "[servers.a]\ncommand = [\"./p\"]\nin_front_of = \"app\"".to_owned(),
                "[servers.a] in_front_of: nothing tells the server where app listens; write {upstream}",
            ),
            (
                "[servers.a]\ncommand = [\"./p\", \"{upstream}\"]".to_owned(),
                "[servers.a] in_front_of: is missing, and {upstream} is the address",
            ),
            (
                "[servers.a]\ncommand = [\"./p\", \"{files}/a\"]".to_owned(),
                "[servers.a] files: is missing, and {files} is the folder",
            ),
            (
                "[servers.a]\ncommand = [\"./p\"]\nfiles = { a = \"x\" }".to_owned(),
                "[servers.a] files: nothing reads them; write {files}/a in command or env",
            ),
            (
                "[servers.a]\ncommand = [\"./p\", \"{files}\"]\nfiles = { \"../a\" = \"x\" }".to_owned(),
                "[servers.a] files: \"../a\" is no name of a file",
            ),
            (
                "[servers.a]\nlike = \"http4s.Tapir\"\nargs = [\"{upstream}\"]\nin_front_of = \"app\"".to_owned(),
                "[servers.a] in_front_of: http4s.Tapir is of the catalog, which has no proxies; leave it out",
            ),
        ] {
            let error = suite(&text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
