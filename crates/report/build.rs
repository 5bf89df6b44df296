//! Puts the report page of `web/` into the program, or where it was not built, a small page that says so.

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let page = crate_dir.join("../../web/dist/report.html");
    let fallback = crate_dir.join("src/fallback.html");
    println!("cargo::rerun-if-changed={}", page.display());
    println!("cargo::rerun-if-changed={}", fallback.display());
    let template = match fs::read_to_string(&page) {
        Ok(built) => built,
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::read_to_string(&fallback)?,
        Err(error) => return Err(error),
    };
    let target = out_dir.join("report.html");
    // A missing page makes cargo run this every time: leave the file alone, so that nothing is compiled again.
    if fs::read_to_string(&target).is_ok_and(|present| present == template) {
        return Ok(());
    }
    fs::write(target, template)
}
