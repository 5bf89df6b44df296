# Builds families for Node.js. A family is a package in its folder, and its lock file has the versions. Sourced by ../build.
# The build copies the package and installs its dependencies into the copy.

readonly NPM_VERSION_OF=fastify
readonly MIN_NODE=20

# Prints the files that the targets of a family are built from, each ended by a NUL.
npm_sources() {
  find "$1/package.json" "$1/package-lock.json" "$1/src" -type f -print0
}

# Builds a target with the given fingerprint, or records why it is not available.
npm_build() {
  local family=${1%@*} version=${1#*@} module=target/modules/$1 node modules locked
  # The second line of each entry is its version; the first entry is the package itself.
  modules=$(sed -nE 's/^    "node_modules\/(.*)": \{/\1/p; s/^      "version": "(.*)",?/\1/p' "$family/package-lock.json" |
    sed 1d | paste -d' ' - -)
  locked=$(sed -n "s/^$NPM_VERSION_OF //p" <<<"$modules")
  if ! node=$(command -v node) || ! command -v npm >/dev/null || (($(node_major) < MIN_NODE)); then
    record_unavailable "$1" node "Node.js $MIN_NODE or newer is not on the PATH: install it, npm included"
  elif [[ $locked != "$version" ]]; then
    record_unavailable "$1" "$NPM_VERSION_OF:$version" "servers/$family/package-lock.json has $NPM_VERSION_OF $locked"
  else
    rm -rf "$module" && mkdir -p "$module" || return
    cp -R "$family/package.json" "$family/package-lock.json" "$family/src" "$module" || return
    if (cd "$module" && npm ci --omit=dev --no-audit --no-fund --loglevel=error 2>&1) | show_progress "npm ci for $1"; then
      write_program_manifest "$1" "$2" "$(npm_resolved "$locked")" "$modules" "$node" "$PWD/$module/src/main.js"
    else
      record_unavailable "$1" packages "its packages cannot be installed by npm (see above), check the network"
    fi
  fi
}

node_major() {
  node --version | sed -E 's/^v([0-9]+).*/\1/'
}

npm_resolved() {
  printf '%s %s\nnode %s\n' "$NPM_VERSION_OF" "$1" "$(node --version | tr -d v)"
}
