# shellcheck shell=bash
# The system's packages, on Debian and Ubuntu; sourced by lib.sh.

packages=(
  g++ cmake ninja-build ccache git
  python3-pip python3-setuptools python3-wheel python3-packaging
  mpich libmpich-dev libhdf5-mpich-dev hdf5-tools
  libdnnl-dev libopenblas-openmp-dev
  libtomlplusplus-dev libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libpcre2-dev libxxhash-dev
  libbenchmark-dev zlib1g-dev libzstd-dev
  python3-h5py python3-numpy python3-matplotlib
  clang-format clang-tidy
)

is_root() { (( EUID == 0 )); }

installed_version() {  # package
  dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$1" 2>/dev/null | sed -n 's/^installed //p'
}

is_catch2_3() { [[ -n $1 ]] && dpkg --compare-versions "$1" ge 3; }  # version

# One name per line; nothing where there is no dpkg: there, modules or Spack bring the libraries and CMake finds them.
missing_packages() {
  have dpkg-query || return 0
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
    sed -n 's/^installed //p') || true
  printf '%s\n' "${packages[@]}" | grep -vxF -e "$installed" || true
  is_catch2_3 "$(installed_version catch2)" || echo catch2
}

report_missing_packages() {
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  [[ -z $missing ]] && return
  say "missing packages: $missing"
  say "to install them, as root: scripts/bootstrap --system"
  if [[ " $missing" == *' catch2 '* ]]; then say "catch2 must be version 3 (on Debian 12 it is in bookworm-backports)"; fi
}

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }

# Where this machine gets its release from, "URI KEYRING": from a deb822 stanza or, without keyring, a one-line entry.
release_source() {  # codename
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    awk -v suite="$1" -v RS= -F '\n' '
      { split("", field)
        for (i = 1; i <= NF; i++)
          if (match($i, /^[A-Za-z-]+:/)) field[substr($i, 1, RLENGTH - 1)] = substr($i, RLENGTH + 1)
        if ((" " field["Suites"] " ") ~ " " suite " ") {
          split(field["URIs"], uri, " "); print uri[1], field["Signed-By"]; exit } }' "$file" 2>/dev/null || true
  done | grep -m 1 . && return
  sed -nE "s/^deb +(\[[^]]*\] +)?([^ ]+) +$1 .*/\2/p" /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    grep -m 1 .
}

# Debian 12 has Catch2 2; its backports, on the mirror this machine already uses, have 3.
add_backports() {  # codename
  local file=/etc/apt/sources.list.d/annulus-backports.sources uri keyring
  read -r uri keyring < <(release_source "$1") ||
    die "Catch2 3 is needed, and no apt source of $1 is configured from which to derive its backports"
  say "adding $1-backports from this machine's own Debian mirror ($file)"
  { printf 'Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\n' "$uri" "$1"
    if [[ -n $keyring ]]; then printf 'Signed-By: %s\n' "$keyring"; fi; } >"$file"
  apt-get update -qq >&2
}

catch2_candidate() { LC_ALL=C apt-cache policy catch2 | sed -n 's/^ *Candidate: //p'; }

install_catch2() {
  is_catch2_3 "$(catch2_candidate)" && { apt_install catch2; return; }
  local codename
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-cache policy | grep -q "n=$codename-backports" || add_backports "$codename"
  apt_install -t "$codename-backports" catch2
}

install_missing() {  # package...
  apt-get update -qq >&2 || say "apt-get update failed; trying with the lists at hand"
  if (( $# )); then apt_install "$@" || return; fi
  is_catch2_3 "$(installed_version catch2)" || install_catch2
}

install_system_packages() {
  have apt-get || die "this system has no apt: bring the libraries of cmake/AnnulusDependencies.cmake by its own means"
  local missing
  missing=$(missing_packages)
  [[ -n $missing ]] || { say "all system packages are installed"; return; }
  is_root || { report_missing_packages; exit 1; }
  say "installing: ${missing//$'\n'/ }"
  # shellcheck disable=SC2046  # one word per package
  install_missing $(grep -vx catch2 <<<"$missing") || say "apt-get failed"
  [[ -z $(missing_packages) ]] || { report_missing_packages; exit 1; }
  say "all system packages are installed"
}
