# Functions for the steps of the action. Each step is its own script, so that a test can run it alone.
set -euo pipefail

# output NAME VALUE: sets an output of this step. A value may have several lines.
output() {
  local delimiter="end-of-$1-$RANDOM$RANDOM"
  printf '%s<<%s\n%s\n%s\n' "$1" "$delimiter" "$2" "$delimiter" >>"$GITHUB_OUTPUT"
}

# annotate KIND TITLE TEXT: shows an error, warning or notice on the page of the job. Escapes TEXT, so that it cannot start a command.
annotate() {
  local text=$3
  text=${text//'%'/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '::%s title=%s::%s\n' "$1" "$2" "$text"
}

die() {
  annotate error tare "$1"
  exit 1
}
