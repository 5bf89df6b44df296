//! One frame of a stack: its name and its kind of code, as samplers mark it in collapsed stacks.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    Java,
    /// Java that the compiler inlined into its caller.
    Inlined,
    /// Java that is interpreted or compiled by C1: not warm yet.
    Interpreted,
    /// Machine code of libraries and of the JVM itself.
    Native,
    Kernel,
    /// Not code: the class of the object that was allocated or waited for.
    Class,
}

impl FrameKind {
    pub const ALL: [Self; 6] = [Self::Java, Self::Inlined, Self::Interpreted, Self::Native, Self::Kernel, Self::Class];

    /// One letter, for compact files: `j`, `i`, `0`, `n`, `k`, `c`.
    pub fn letter(self) -> char {
        MARKS.iter().find(|(_, kind)| *kind == self).map_or('n', |(letter, _)| *letter)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// `org.example.Router.route`, or a symbol.
    pub name: String,
    pub kind: FrameKind,
}

/// The letters in the marks of frames: the annotations of async-profiler, and those of `perf` after collapsing. Native
/// code has none. Of a kind with several, the first is written. Source: async-profiler, "Output formats": `_[j]`
/// compiled, `_[i]` inlined, `_[0]` interpreted, `_[1]` compiled by C1, `_[k]` kernel.
const MARKS: [(char, FrameKind); 6] = [
    ('j', FrameKind::Java),
    ('i', FrameKind::Inlined),
    ('0', FrameKind::Interpreted),
    ('1', FrameKind::Interpreted),
    ('k', FrameKind::Kernel),
    ('c', FrameKind::Class),
];

/// Frames of stacks that the sampler could not walk. Source: async-profiler's error frames: `[unknown_Java]`,
/// `[not_walkable_not_Java]`, `[break_interpreted]`, …
const FAILED: [&str; 7] =
    ["[unknown", "[not_walkable", "[break", "[deoptimization", "[skipped", "[no_Java", "[pending"];

impl Frame {
    pub fn parse(text: &str) -> Self {
        let marked = MARKS.iter().find_map(|(letter, kind)| {
            Some((text.strip_suffix(']')?.strip_suffix(*letter)?.strip_suffix("_[")?, *kind))
        });
        let (name, kind) = marked.unwrap_or((text, FrameKind::Native));
        Self { name: name.to_owned(), kind }
    }

    /// The frame for a collapsed stack, with characters replaced that would break the format.
    pub fn with_mark(&self) -> String {
        let name = self.name.replace([';', '\n'], ":");
        if self.kind == FrameKind::Native { name } else { format!("{name}_[{}]", self.kind.letter()) }
    }

    /// Whether it marks a stack that the sampler could not walk.
    pub fn is_failure(&self) -> bool {
        FAILED.iter().any(|start| self.name.starts_with(start))
    }

    /// `Router.route` for `org.example.Router.route`; other names unchanged.
    pub fn short_name(&self) -> &str {
        match self.kind {
            FrameKind::Native | FrameKind::Kernel => &self.name,
            _ => &self.name[class_start(&self.name).unwrap_or(0)..],
        }
    }

    /// `org.example` for `org.example.Router.route`; `native` or `kernel` for frames other than Java.
    pub fn package_name(&self) -> &str {
        match self.kind {
            FrameKind::Native => "native",
            FrameKind::Kernel => "kernel",
            _ => class_start(&self.name).map_or("(no package)", |at| &self.name[..at.saturating_sub(1)]),
        }
    }
}

/// Where the class name begins: package names are in lower case.
fn class_start(name: &str) -> Option<usize> {
    let mut at = 0;
    for part in name.split('.') {
        if at > 0 && part.starts_with(|c: char| !c.is_ascii_lowercase()) {
            return Some(at);
        }
        at += part.len() + 1;
    }
    // If all parts are in lower case, the last two are class and method.
    let method = name.rfind('.')?;
    name[..method].rfind('.').map(|class| class + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_the_kind_and_come_back() {
        for (text, kind) in [
            ("a.B.c_[j]", FrameKind::Java),
            ("a.B.c_[i]", FrameKind::Inlined),
            ("a.B.c_[0]", FrameKind::Interpreted),
            ("do_syscall_64_[k]", FrameKind::Kernel),
            ("byte[]_[c]", FrameKind::Class),
            ("epoll_wait", FrameKind::Native),
            ("byte[]", FrameKind::Native),
        ] {
            let frame = Frame::parse(text);
            assert_eq!((frame.kind, frame.with_mark()), (kind, text.to_owned()));
        }
    }

    #[test]
    fn names_are_cut_into_package_and_the_rest() {
        for (name, package, short) in [
            ("sttp.tapir.server.Uri$.parse", "sttp.tapir.server", "Uri$.parse"),
            ("tare.http4s.Tapir.main", "tare.http4s", "Tapir.main"),
            ("B.main", "(no package)", "B.main"),
            ("scala.collection.immutable.List.map", "scala.collection.immutable", "List.map"),
            ("a.b.c", "a", "b.c"),
        ] {
            let frame = Frame { name: name.into(), kind: FrameKind::Java };
            assert_eq!((frame.package_name(), frame.short_name()), (package, short), "{name}");
        }
        let native = Frame { name: "std::map".into(), kind: FrameKind::Native };
        assert_eq!((native.package_name(), native.short_name()), ("native", "std::map"));
    }

    #[test]
    fn failed_walks_are_not_code() {
        assert!(Frame::parse("[unknown_Java]").is_failure() && Frame::parse("[not_walkable_Java]").is_failure());
        assert!(!Frame::parse("[vdso]").is_failure());
    }
}
