//! Runs every seed of the fuzzers, and every input that they have found, without a fuzzer.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::fs;
use std::path::PathBuf;

/// Seeds by the name of their property; those of answers are shared with the corpus of `crates/wire`.
fn seeds(name: &str) -> Vec<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("seeds").join(name)];
    if name == "answer" {
        folders.push(here.join("../wire/tests/corpus"));
    }
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn properties_hold_for_every_seed_and_found_input() {
    for (name, property) in tare_hostile::ALL {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in seeds {
            println!("{name}: {}", seed.display());
            property(&fs::read(&seed).unwrap());
        }
    }
}

#[test]
fn properties_hold_for_every_cut_of_a_small_seed() {
    for (name, property) in tare_hostile::ALL {
        for seed in seeds(name) {
            let bytes = fs::read(&seed).unwrap();
            if bytes.len() <= 256 {
                (0..bytes.len()).for_each(|end| property(&bytes[..end]));
            }
        }
    }
}
