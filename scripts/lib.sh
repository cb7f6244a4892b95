# shellcheck shell=bash
# What the scripts share; sourced by each of them. Progress goes to stderr, so that stdout can be captured.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CCACHE_BASEDIR=$root  # paths relative to it: scratch copies of the tree find its compiled objects

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null; }

source "$root/scripts/system_packages.sh"

# Installs what is missing: the system's packages where we are root, then what this project builds for itself.
ensure_dependencies() {  # [preset]
  if is_root && [[ -n $(missing_packages) ]]; then "$root/scripts/bootstrap" --system; fi
  "$root/scripts/bootstrap" "${1:-cpu}"
}

# Brings build/PRESET up to date; further arguments are targets (default: all).
ensure_built() {  # preset [target...]
  local preset=$1
  ensure_dependencies "$preset"
  cd "$root"
  if [[ ! -f build/$preset/build.ninja ]]; then
    say "configuring build/$preset"
    cmake --preset "$preset" >&2 || { report_missing_packages; die "cmake --preset $preset failed"; }
  fi
  say "building build/$preset"
  cmake --build --preset "$preset" ${2:+--target "${@:2}"} >&2 || die "the build of preset $preset failed"
}

program() { echo "$root/build/$1/bin/annulus"; }  # preset

# The cores this process may use, which in a container or a batch job are fewer than the machine's.
cores() { nproc; }

# Runs a command on several ranks, with as many threads per rank as there are cores for. Ranks that wait must not spin:
# on one machine they would take the cores of those that compute.
launch() {  # ranks command...
  local ranks=$1 threads=${OMP_NUM_THREADS:-$(( $(cores) / $1 ))}
  (( threads > 0 )) || threads=1
  OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive OMP_PROC_BIND=${OMP_PROC_BIND:-false} mpiexec -n "$ranks" "${@:2}"
}
