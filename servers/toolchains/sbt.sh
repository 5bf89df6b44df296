# Builds families with sbt: one module per target, from the Scala and Java of the family's folder. Sourced by ../build.
# This file finds the tools (a JDK, sbt). build.sbt defines the build.

readonly SBT_VERSION=1.13.0
readonly SBT_SHA256=18d4a733eae2f70fd4d71a46e9da21d2eb7c9bf6ee85a67be9a9800e7c01403e
# Some libraries need virtual threads.
readonly MIN_JAVA=21

# Prints the files that the targets of a family are built from, each ended by a NUL.
sbt_sources() {
  local folder folders=() stem=$1
  # The code that netty-cats shares with netty is in netty's folder.
  while [[ $stem == *-* ]]; do
    stem=${stem%-*}
    for folder in "$stem"/src/main/{shared*,resources}; do
      if [[ -d $folder ]]; then folders+=("$folder"); fi
    done
  done
  if [[ -d $1/src ]]; then folders+=("$1/src"); fi
  find build.sbt project/build.properties project/repositories project/*.sbt project/*.scala common/src "${folders[@]}" \
    -type f -print0
}

# Builds targets, each given with its fingerprint.
sbt_build() {
  local IFS=,
  sbt "-Dtare.targets=$*" writeManifest
}

sbt_check_format() {
  sbt scalafmtCheckAll scalafmtSbtCheck || die "the Scala under servers/ is not formatted: run servers/build --format"
}

sbt_format() {
  sbt scalafmtAll scalafmtSbt || die "the Scala under servers/ could not be formatted, see above"
}

# Prints the major version of the JDK at $1, or 0.
java_major() {
  local version
  version=$(sed -nE 's/^JAVA_VERSION="([0-9]+).*/\1/p' "$1/release" 2>/dev/null) || true
  [[ -x $1/bin/javac ]] || version=0
  echo "${version:-0}"
}

# Exports JAVA_HOME: its own value, which tare may have set, or else the first suitable JDK of the PATH and of the usual places.
find_jdk() {
  local javac home
  javac=$(readlink -f "$(command -v javac || true)" 2>/dev/null) || true
  for home in "${JAVA_HOME:-}" "${javac%/bin/javac}" /usr/lib/jvm/* "$HOME"/.sdkman/candidates/java/current; do
    (($(java_major "$home") >= MIN_JAVA)) || continue
    export JAVA_HOME=$home
    return
  done
  die "no JDK of version $MIN_JAVA or later in JAVA_HOME, on the PATH or below /usr/lib/jvm: install one (25 is a good choice), or set JAVA_HOME"
}

# Prints the path of sbt's launcher. If there is none, fetches it with Maven. Checks its hash in both cases.
find_launcher() {
  local cache=${XDG_CACHE_HOME:-$HOME/.cache}/tare draft
  local jar=$cache/sbt-launch-$SBT_VERSION.jar
  if ! is_launcher "$jar"; then
    command -v mvn >/dev/null || die "sbt is needed to build the servers: install sbt (or Maven, which can fetch it)"
    echo "fetching sbt $SBT_VERSION with Maven" >&2
    mkdir -p "$cache"
    draft=$(mktemp -d "$cache/sbt.XXXXXX")
    # Maven emits colour codes even into a pipe.
    if ! mvn -q -B dependency:copy -Dartifact="org.scala-sbt:sbt-launch:$SBT_VERSION" -DoutputDirectory="$draft" \
      </dev/null 2>&1 | sed -u -e $'s/\e\\[[0-9;]*m//g' -e '/^$/d' | show_progress "fetching sbt $SBT_VERSION" >&2; then
      rm -rf "$draft"
      die "Maven could not fetch sbt's launcher (above): install sbt, or try again with a network"
    fi
    is_launcher "$draft/sbt-launch-$SBT_VERSION.jar" ||
      die "what Maven fetched as sbt's launcher has another hash than expected: it was left in $draft"
    mv "$draft/sbt-launch-$SBT_VERSION.jar" "$jar"
    rmdir "$draft"
  fi
  echo "$jar"
}

is_launcher() {
  [[ -f $1 ]] && [[ $("${SHA256[@]}" "$1" | cut -d' ' -f1) == "$SBT_SHA256" ]]
}

# Runs sbt with the given arguments, with the installed sbt if there is one. Prints its output line by line.
sbt() {
  local options=(
    -Dsbt.override.build.repos=true -Dsbt.repository.config=project/repositories -Dsbt.server.autostart=false
    -Dsbt.color=false -Dsbt.log.noformat=true -Dsbt.supershell=false
  )
  # A build ends before the compiler that optimises pays: without it, five families take 74 s of CPU instead of 120 s.
  local java=(-Xmx2g -Xss4m -XX:TieredStopAtLevel=1) command jar
  find_jdk
  if (($(java_major "$JAVA_HOME") >= 24)); then
    java+=(--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow)
  fi
  if [[ $(command sbt --script-version 2>/dev/null </dev/null) == 1.* ]]; then
    command=(sbt -batch -java-home "$JAVA_HOME" "${java[@]/#/-J}" "${options[@]}")
  else
    jar=$(find_launcher) || exit 1
    command=("$JAVA_HOME/bin/java" "${java[@]}" "${options[@]}" -jar "$jar")
  fi
  echo "starting sbt $SBT_VERSION on the JDK in $JAVA_HOME"

  # sbt must not outlive this script, and the script must not end before the last line of sbt is printed.
  local sbt_pid progress_pid status=0
  exec 3> >(show_progress "starting sbt")
  progress_pid=$!
  command "${command[@]}" "$@" </dev/null >&3 2>&1 &
  sbt_pid=$!
  trap 'kill $sbt_pid 2>/dev/null || true' EXIT
  trap 'exit 130' INT TERM
  wait "$sbt_pid" || status=$?
  trap - EXIT INT TERM
  exec 3>&-
  wait "$progress_pid" || true
  return "$status"
}
