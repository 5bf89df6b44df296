# Builds families with cargo. A family is a workspace in its folder, and its lock file has the versions. Sourced by ../build.
# Its program, tare-servers-FAMILY, gets its number of threads as an argument.

# The package whose version is the version of the family, and the packages whose versions a report shows.
readonly CARGO_VERSION_OF=axum
readonly CARGO_REPORTED='axum|hyper|tokio|serde_json'

# Prints the files that the targets of a family are built from, each ended by a NUL.
cargo_sources() {
  find "$1/Cargo.toml" "$1/Cargo.lock" "$1/src" -type f -print0
}

# Builds a target with the given fingerprint, or records why it is not available.
cargo_build() {
  local family=${1%@*} version=${1#*@} modules locked
  modules=$(sed -nE 's/^name = "(.*)"/\1/p; s/^version = "(.*)"/\1/p' "$family/Cargo.lock" | paste -d' ' - -)
  locked=$(sed -n "s/^$CARGO_VERSION_OF //p" <<<"$modules")
  if ! command -v cargo >/dev/null; then
    record_unavailable "$1" cargo "cargo is not on the PATH: install Rust 1.88 or newer"
  elif [[ $locked != "$version" ]]; then
    record_unavailable "$1" "$CARGO_VERSION_OF:$version" "servers/$family/Cargo.lock has $CARGO_VERSION_OF $locked"
  elif ! cargo fetch --locked --manifest-path "$family/Cargo.toml" 2>&1 | show_progress "fetching the crates of $1"; then
    record_unavailable "$1" crates "its crates cannot be downloaded, check the network"
  else
    CARGO_TARGET_DIR=target/cargo cargo build --release --locked --manifest-path "$family/Cargo.toml" 2>&1 |
      show_progress "building $1 with cargo" || return
    write_program_manifest "$1" "$2" "$(cargo_resolved "$modules")" "$modules" \
      "$PWD/target/cargo/release/tare-servers-$family" --threads '{cpus}'
  fi
}

cargo_resolved() {
  grep -E "^($CARGO_REPORTED) " <<<"$1"
  rustc --version | sed -E 's/^rustc ([^ ]+).*/rust \1/'
}
