# Shared by all toolchains: messages, hashes, and the manifests that a build writes. Sourced by ../build.

readonly MANIFESTS=target/manifests

die() {
  echo "error: $*" >&2
  exit 1
}

if command -v sha256sum >/dev/null; then SHA256=(sha256sum); else SHA256=(shasum -a 256); fi

# Records why a target is not available here: record_unavailable TARGET ARTIFACT REASON.
record_unavailable() {
  rm -f "$MANIFESTS/$1.json"
  printf '{\n  "reason": "%s",\n  "artifact": "%s"\n}\n' "$3" "$2" >"$MANIFESTS/$1.unavailable.json"
}

# Writes the manifest of a program: write_program_manifest TARGET FINGERPRINT RESOLVED MODULES WORD… . The words are its command, to
# which tare adds server and port. RESOLVED and MODULES have a `NAME VERSION` per line, without characters that JSON must escape.
write_program_manifest() {
  local target=$1 fingerprint=$2 resolved=$3 modules=$4
  shift 4
  rm -f "$MANIFESTS/$target.unavailable.json"
  cat >"$MANIFESTS/$target.draft" <<END
{
  "schema": 1,
  "family": "${target%@*}",
  "version": "${target#*@}",
  "sources_sha256": "$fingerprint",
  "command": [$(printf '"%s", ' "$@" | sed 's/, $//')],
  "resolved": {
$(sed -E -e 's/(.*) (.*)/    "\1": "\2"/' -e '$!s/$/,/' <<<"$resolved")
  },
  "all_modules": [
$(sed -E -e 's/(.*) (.*)/    "\1:\2"/' -e '$!s/$/,/' <<<"$modules")
  ]
}
END
  mv "$MANIFESTS/$target.draft" "$MANIFESTS/$target.json"
}

# Copies its input. After 5 s without input, prints the last line (at first, $1) and the time since.
show_progress() {
  local line last=$1 since=$SECONDS status
  while true; do
    status=0
    IFS= read -r -t 5 line || status=$?
    if ((status > 128)); then
      echo "… $last ($((SECONDS - since)) s)"
    elif ((status > 0)); then
      break
    else
      echo "$line"
      if [[ -n $line ]]; then last=$line since=$SECONDS; fi
    fi
  done
}
