# What the steps of the action share. Each step is a script of its own, so that a test can run it alone.
set -euo pipefail

# output NAME VALUE: an output of this step. A value may have several lines.
output() {
  local mark="end-of-$1-$RANDOM$RANDOM"
  printf '%s<<%s\n%s\n%s\n' "$1" "$mark" "$2" "$mark" >>"$GITHUB_OUTPUT"
}

# annotate KIND TITLE TEXT: an error, warning or notice on the page of the job. The text must not begin a command of its own.
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
