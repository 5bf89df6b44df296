#!/bin/sh
# Installs tare, one static program for Linux:
#
#   curl -fsSL https://github.com/OWNER/tare/releases/latest/download/install.sh | sh
#   wget -qO- https://github.com/OWNER/tare/releases/latest/download/install.sh | sh -s -- --dir /usr/local/bin
#
# --dir DIR (or TARE_DIR) is where the program goes, by default ~/.local/bin. TARE_URL is another folder with the packages.
# The release writes its own version and repository into the next two lines.
set -eu
version=VERSION
repository=https://github.com/OWNER/tare

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# can_run PROGRAM: whether it is on the PATH.
can_run() { command -v "$1" >/dev/null 2>&1; }

# fetch URL FILE: downloads a file with what this machine has.
fetch() {
  if can_run curl; then
    curl --fail --silent --show-error --location --retry 2 --output "$2" "$1"
  else
    wget -q -O "$2" "$1"
  fi || die "cannot download $1 to $2. Is there a release of this version for this machine, and space for it?"
}

# Everything is in a function, so that a script that is cut off while it is downloaded does nothing.
main() {
  dir=${TARE_DIR:-${HOME:+$HOME/.local/bin}}
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help)
        echo "Installs tare into ~/.local/bin, or the folder of --dir DIR (or TARE_DIR)."
        echo "TARE_URL names another folder with the packages and SHA256SUMS."
        exit
        ;;
      --dir) dir=${2:?"--dir needs a folder"} && shift 2 ;;
      *) die "unknown argument $1: there is --dir DIR" ;;
    esac
  done
  [ "$version" != "VERSION" ] || [ -n "${TARE_URL:-}" ] ||
    die "this is the script of the source. The release has the one that knows its version"

  case $(uname -s) in
    Linux) ;;
    Darwin) die "tare runs on Linux. On a Mac use the image: docker run --rm ghcr.io/OWNER/tare load http://host.docker.internal:8080/" ;;
    *) die "tare runs on Linux, and this is $(uname -s)" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *)
      # Cargo alone would build a program without the report page.
      die "there is no package for $(uname -m), only for x86_64 and aarch64. Build it, with Rust and Node.js:" \
        "git clone --branch v$version $repository tare && cd tare && ./tare build && cargo install --path crates/tare --locked"
      ;;
  esac

  [ -n "$dir" ] || die "HOME is not set: say where the program goes with --dir"
  can_run curl || can_run wget || die "neither curl nor wget is installed"
  [ ! -d "$dir/tare" ] || die "$dir/tare is a folder: give another place with --dir"
  # Before the download: a folder that cannot be written to is the likeliest mistake.
  mkdir -p "$dir" 2>/dev/null || die "cannot make the folder $dir: give another one with --dir"
  # The PATH needs the whole path.
  dir=$(CDPATH='' cd -- "$dir" && pwd) || die "cannot enter the folder $dir"
  [ -w "$dir" ] || die "cannot write to $dir: give another folder with --dir, or run this as its owner"

  scratch=$(mktemp -d "$dir/.tare-install.XXXXXX") || die "cannot write to $dir: is its disk full?"
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
  name=tare-$version-$machine-linux
  url=${TARE_URL:-$repository/releases/download/v$version}
  fetch "${url%/}/SHA256SUMS" "$scratch/SHA256SUMS"
  fetch "${url%/}/$name.tar.gz" "$scratch/$name.tar.gz"

  grep "  $name.tar.gz\$" "$scratch/SHA256SUMS" >"$scratch/sum" || die "$url/SHA256SUMS does not name $name.tar.gz"
  (cd "$scratch" && sha256sum -c sum >/dev/null 2>&1) ||
    die "$url/$name.tar.gz is not the file that SHA256SUMS names: it is damaged, or was replaced. Nothing is installed"
  tar -xzf "$scratch/$name.tar.gz" -C "$scratch" "$name/bin/tare" || die "cannot unpack $name.tar.gz in $dir: is its disk full?"
  found=$("$scratch/$name/bin/tare" --version) ||
    die "the program does not run here: another machine, or a folder that allows no programs (noexec; try --dir)"
  # A rename, so that there is never half a program, and one that runs can be replaced.
  mv -f "$scratch/$name/bin/tare" "$dir/tare" || die "cannot write $dir/tare"

  echo "$found is installed: $dir/tare"
  case :$PATH: in
    *:"$dir":*) ;;
    *) echo "This folder is not on the PATH. Add it: export PATH=\"$dir:\$PATH\"" ;;
  esac
  echo "First steps: tare example > first.toml && tare run first.toml"
}

main "$@"
