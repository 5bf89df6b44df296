//! Puts the report page of `web/` into the program, or where it was not built, a small page that says so. It is compressed
//! with zlib: as text it would be a twentieth of the program.

use std::io::Write;
use std::path::PathBuf;
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::ZlibEncoder;

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
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(template.as_bytes())?;
    let packed = encoder.finish()?;
    let target = out_dir.join("report.html.zlib");
    // A missing page makes cargo run this every time: leave the file alone, so that nothing is compiled again.
    if fs::read(&target).is_ok_and(|present| present == packed) {
        return Ok(());
    }
    fs::write(target, packed)
}
