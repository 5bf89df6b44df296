//! Finds the Java installations of this machine and chooses one, by the `release` file in each.

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::{Deserialize, Serialize};

use crate::SutError;

/// The oldest Java on which all servers of the catalog can be built and run.
pub const CATALOG_JAVA: u32 = 21;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jdk {
    pub home: PathBuf,
    /// The feature release: 17, 21, 25.
    pub major: u32,
    pub version: String,
    pub vendor: String,
}

impl Jdk {
    /// The installation in a folder; `None` if there is none.
    pub fn from_home(home: &Path) -> Option<Self> {
        let release = fs::read_to_string(home.join("release")).ok()?;
        let (version, vendor) = parse_release(&release)?;
        let major = major_of(&version)?;
        home.join("bin/java").is_file().then(|| Self { home: home.to_owned(), major, version, vendor })
    }

    pub fn java_program(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// The Java to use, at least `minimum`: `chosen`, else `JAVA_HOME` if it is new enough, else the newest one.
    pub fn find_suitable(minimum: u32, chosen: Option<&Path>) -> Result<Self, SutError> {
        let too_old = |jdk: &Self, whose: &str| jdk.too_old_for(minimum, whose);
        if let Some(home) = chosen {
            let at = home.display();
            let none = || SutError::Other(format!("there is no JDK at {at}: it needs the files release and bin/java"));
            let found = Self::from_home(home).ok_or_else(none)?;
            return if found.major >= minimum { Ok(found) } else { Err(too_old(&found, "the JDK that was chosen")) };
        }
        let none = || {
            let remedy = format!("install Java {minimum} or later (25 is a good choice), or set JAVA_HOME");
            SutError::Other(format!("no JDK was found; {remedy}"))
        };
        Self::choose(|jdk| jdk.major >= minimum)
            .ok_or_else(|| Self::newest(|_| true).map_or_else(none, |newest| too_old(&newest, "the newest JDK found")))
    }

    /// The error of a JDK that is older than `minimum`; `whose` says which one it is.
    pub(crate) fn too_old_for(&self, minimum: u32, whose: &str) -> SutError {
        let (version, home) = (&self.version, self.home.display());
        SutError::Other(format!("{whose} is Java {version} ({home}), but Java {minimum} or later is needed"))
    }

    /// The JDK that builds the catalog's servers: `JAVA_HOME` if it can, else the newest one with a compiler.
    pub fn find_compiler() -> Result<Self, SutError> {
        let is_usable = |jdk: &Self| jdk.major >= CATALOG_JAVA && jdk.home.join("bin/javac").is_file();
        Self::choose(is_usable).ok_or_else(|| {
            let missing = format!("no Java {CATALOG_JAVA} or later with a compiler (bin/javac) was found");
            SutError::Other(format!("{missing}; install a JDK (25 is a good choice), or set JAVA_HOME"))
        })
    }

    /// That of `JAVA_HOME` if it is usable, else the newest usable one.
    fn choose(is_usable: impl Fn(&Self) -> bool) -> Option<Self> {
        let of_user = env::var_os("JAVA_HOME").and_then(|home| Self::from_home(Path::new(&home)));
        of_user.filter(&is_usable).or_else(|| Self::newest(is_usable))
    }

    fn newest(is_usable: impl Fn(&Self) -> bool) -> Option<Self> {
        Self::installed_jdks().into_iter().filter(is_usable).max_by_key(|jdk| jdk.major)
    }

    fn installed_jdks() -> Vec<Self> {
        let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
        homes.extend(home_on_path());
        homes.extend(entries_of(Path::new("/usr/lib/jvm")));
        if let Some(home) = env::var_os("HOME") {
            homes.extend(entries_of(&Path::new(&home).join(".sdkman/candidates/java")));
            homes.extend(entries_of(&Path::new(&home).join(".jdks")));
        }
        let mut real: Vec<PathBuf> = homes.into_iter().filter_map(|home| home.canonicalize().ok()).collect();
        real.sort();
        real.dedup();
        real.iter().filter_map(|home| Self::from_home(home)).collect()
    }
}

impl std::fmt::Display for Jdk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Java {}", self.version)?;
        if self.vendor.is_empty() { Ok(()) } else { write!(f, " ({})", self.vendor) }
    }
}

fn parse_release(text: &str) -> Option<(String, String)> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim().trim_matches('"').to_owned())
    };
    Some((value("JAVA_VERSION")?, value("IMPLEMENTOR").unwrap_or_default()))
}

/// The feature release of a version; before Java 9 it was the second number ("1.8.0").
fn major_of(version: &str) -> Option<u32> {
    let mut numbers = version.split(['.', '-', '+', '_']).map_while(|part| part.parse().ok());
    match numbers.next()? {
        1 => numbers.next(),
        major => Some(major),
    }
}

fn home_on_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let java = env::split_paths(&path).map(|place| place.join("java")).find(|java| java.is_file())?;
    Some(java.canonicalize().ok()?.parent()?.parent()?.to_owned())
}

fn entries_of(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_jdk(version: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("bin")).unwrap();
        fs::write(home.path().join("bin/java"), "").unwrap();
        let release = format!("IMPLEMENTOR=\"Somebody\"\nJAVA_VERSION=\"{version}\"\n");
        fs::write(home.path().join("release"), release).unwrap();
        home
    }

    #[test]
    fn versions_of_all_times_are_understood() {
        for (version, major) in [("25.0.3", 25), ("17", 17), ("1.8.0_402", 8), ("26-ea", 26)] {
            assert_eq!(Jdk::from_home(make_jdk(version).path()).unwrap().major, major);
        }
        assert_eq!(Jdk::from_home(Path::new("/no/such/jdk")), None);
    }

    #[test]
    fn a_chosen_jdk_is_taken_or_refused_but_never_replaced() {
        let home = make_jdk("17.0.1");
        let found = Jdk::find_suitable(17, Some(home.path())).unwrap();
        assert_eq!(
            (found.to_string().as_str(), found.java_program()),
            ("Java 17.0.1 (Somebody)", home.path().join("bin/java"))
        );
        let old = Jdk::find_suitable(21, Some(home.path())).unwrap_err().to_string();
        assert!(old.contains("Java 17.0.1") && old.contains("Java 21 or later is needed"), "{old}");
        assert!(
            Jdk::find_suitable(21, Some(Path::new("/nowhere"))).unwrap_err().to_string().contains("no JDK at /nowhere")
        );
    }
}
