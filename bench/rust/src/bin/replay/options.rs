//! What the command line asks for.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, bail};

/// What to simulate.
pub struct Options {
    /// Simulated runs of each row.
    pub runs: u32,
    pub seed: u64,
    /// How many times as much forks scatter as those of the earlier runs, by which a prior is fitted.
    pub scatter: f64,
    /// Where the rows go as JSON.
    pub out: Option<PathBuf>,
    /// Records to draw from.
    pub records: Vec<PathBuf>,
}

impl Options {
    /// Reads `--runs N --seed N --scatter X --out FILE RECORD…`.
    ///
    /// # Errors
    /// A flag is unknown, or its value is missing or no number.
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut options = Self { runs: 2_000, seed: 1, scatter: 1.0, out: None, records: Vec::new() };
        while let Some(argument) = arguments.next() {
            let value = match argument.as_str() {
                "--runs" | "--seed" | "--scatter" | "--out" => {
                    arguments.next().with_context(|| format!("{argument} needs a value"))?
                }
                flag if flag.starts_with('-') => {
                    bail!("{flag} is not known: --runs, --seed, --scatter, --out, or records")
                }
                _ => String::new(),
            };
            match argument.as_str() {
                "--runs" => options.runs = number(&argument, &value)?,
                "--seed" => options.seed = number(&argument, &value)?,
                "--scatter" => options.scatter = number(&argument, &value)?,
                "--out" => options.out = Some(value.into()),
                record => options.records.push(record.into()),
            }
        }
        Ok(options)
    }
}

fn number<T: FromStr>(flag: &str, text: &str) -> anyhow::Result<T> {
    text.parse().ok().with_context(|| format!("{flag}: \"{text}\" is not a number that it takes"))
}
