//! `tare report --bundle`: a record with its logs in one file, without the secrets that it names, for the report of a bug.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, ensure};
use tare_record::store::{RECORD_FILE, copy_record, record_texts, rewrite_record};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::secrets::Secrets;
use crate::failure::Outcome;
use crate::{console, interrupt};

pub fn write_bundle(record: &Path, target: &Path) -> anyhow::Result<Outcome> {
    let is_record =
        target.canonicalize().is_ok_and(|target| record.canonicalize().is_ok_and(|record| record == target));
    ensure!(!is_record, "{} is the record itself; name another file", target.display());
    let mut folder = target.as_os_str().to_owned();
    folder.push(".copy");
    let folder = PathBuf::from(folder);
    ensure!(!folder.exists(), "{} exists; remove it", folder.display());
    // From here on Ctrl-C does not end this process at once: the copy has every secret, and must not stay.
    let cancelled = interrupt::flag()?;
    interrupt::remove_at_exit(&folder);
    fs::create_dir(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let written = pack(record, &folder.join(RECORD_FILE), target, &cancelled);
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    let Some((files, masked)) = written? else { return Ok(Outcome::Interrupted) };
    console::print_text(&format!(
        "wrote {}: {files}, {masked}. Look at it before you give it away: bodies, files of a suite and what servers log are in it as \
         they were, but for these secrets\n",
        target.display()
    ));
    Ok(Outcome::Done)
}

/// Packs a copy of the record and the texts beside it; returns in words how many there are, and how many secrets were
/// masked. `None` if it was cancelled before.
fn pack(record: &Path, copy: &Path, target: &Path, cancelled: &AtomicBool) -> anyhow::Result<Option<(String, String)>> {
    copy_record(record, copy)?;
    let secrets = Secrets::of(&record_texts(copy)?);
    rewrite_record(copy, |text| secrets.masked(text))?;
    if interrupt::is_raised(cancelled) {
        return Ok(None);
    }
    // It gets its name when it is whole, so that a full disk leaves no half of it there.
    let unfinished = copy.with_extension("zip");
    let cannot_write = || format!("cannot write {}", target.display());
    let mut bundle = ZipWriter::new(File::create(&unfinished).with_context(cannot_write)?);
    let mut add = |name: &str, content: &[u8]| -> anyhow::Result<()> {
        bundle.start_file(name, SimpleFileOptions::default())?;
        bundle.write_all(content).with_context(cannot_write)
    };
    add(RECORD_FILE, &fs::read(copy)?)?;
    let texts = if record.ends_with(RECORD_FILE) { texts_beside(record) } else { Vec::new() };
    for (name, file) in &texts {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        add(name, secrets.masked(&String::from_utf8_lossy(&text)).as_bytes())?;
    }
    bundle.finish().with_context(cannot_write)?;
    fs::rename(&unfinished, target).with_context(cannot_write)?;
    let count = tare_analysis::format::count;
    Ok(Some((count(1 + texts.len() as u64, "file"), format!("{} masked", count(secrets.count(), "secret")))))
}

/// The texts in the folder of a run: logs and summaries. Pages and histograms can be made again.
fn texts_beside(record: &Path) -> Vec<(String, PathBuf)> {
    const KEPT: [&str; 5] = ["log", "json", "csv", "md", "txt"];
    // No folder at all is none to be read.
    let folder = Path::new(".").join(record.parent().unwrap_or(Path::new("")));
    let files = |place: &str| -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(folder.join(place)).into_iter().flatten().flatten().map(|entry| entry.path());
        let kept =
            entries.filter(|path| path.extension().is_some_and(|ending| KEPT.iter().any(|kept| ending == *kept)));
        kept.filter_map(|path| Some((format!("{place}{}", path.file_name()?.to_str()?), path))).collect()
    };
    let mut found = [files(""), files("logs/")].concat();
    found.sort();
    found
}
