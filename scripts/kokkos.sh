# shellcheck shell=bash disable=SC2154
# Kokkos and Kokkos Kernels, one install per variant (cpu, cpu-debug, cuda); sourced by bootstrap.

kokkos_version=4.5.1  # what we build; any 4.5 <= version < 6 that find_package accepts will do

# Upstream's release archives, then a Python source distribution that carries the same two trees.
release=https://github.com/kokkos
kokkos_archive=kokkos/releases/download/4.5.01/kokkos-4.5.01.tar.gz
kokkos_sha256=52d003ffbbe05f30c89966e4009c017efb1662b02b2b73190670d3418719564c
kernels_archive=kokkos-kernels/releases/download/4.5.01/kokkos-kernels-4.5.01.tar.gz
kernels_sha256=c111a6561f23a85af9850d1df1e9015f37a586f1da0be4b6fb1e98001d75e074
carrier=pycompadre-1.7.6
carrier_sha256=c766ec4d445ce076069be4b8c51a23ffac4ee79ea949ca86446bfd8c299b154c

cache=${XDG_CACHE_HOME:-$HOME/.cache}/annulus
record=$root/build/dependencies.cmake

sha256() { sha256sum | cut -d ' ' -f 1; }

# A native build dies with an illegal instruction on another processor that shares the home directory.
processor() { uname -m; grep -m 1 -E '^(flags|Features)' /proc/cpuinfo; }

# Options, one per line, as paths may hold spaces.
kokkos_options() {  # variant
  printf -- '-D%s\n' CMAKE_CXX_STANDARD=17 CMAKE_POSITION_INDEPENDENT_CODE=ON \
      Kokkos_ENABLE_OPENMP=ON Kokkos_ENABLE_SERIAL=ON
  case $1 in
    cpu) printf -- '-D%s\n' CMAKE_BUILD_TYPE=Release Kokkos_ARCH_NATIVE=ON ;;
    cpu-debug) printf -- '-D%s\n' CMAKE_BUILD_TYPE=Debug Kokkos_ARCH_NATIVE=ON \
        Kokkos_ENABLE_DEBUG=ON Kokkos_ENABLE_DEBUG_BOUNDS_CHECK=ON ;;
    # no native code: the machine with the GPU is often not the one that compiles
    cuda) printf -- '-D%s\n' CMAKE_BUILD_TYPE=Release Kokkos_ENABLE_CUDA=ON Kokkos_ARCH_HOPPER90=ON \
        Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON
      cuda_options ;;
  esac
}

cuda_options() {
  printf -- '-D%s\n' CMAKE_CUDA_ARCHITECTURES=90 "CMAKE_CUDA_FLAGS=-include \"$root/cmake/cuda13_compat.hpp\""
}

kernels_options() {  # variant
  printf -- '-D%s\n' CMAKE_CXX_STANDARD=17 CMAKE_POSITION_INDEPENDENT_CODE=ON CMAKE_BUILD_TYPE=Release
  printf -- '-DKokkosKernels_%s\n' ADD_DEFAULT_ETI=OFF ENABLE_ALL_COMPONENTS=OFF ENABLE_COMPONENT_BLAS=ON \
      INST_{DOUBLE,LAYOUTLEFT,OFFSET_INT,OFFSET_SIZE_T,ORDINAL_INT}=OFF
  if [[ $1 == cuda ]]; then
    printf -- '-DKokkosKernels_ENABLE_TPL_%s\n' CUBLAS=ON CUSPARSE=OFF CUSOLVER=OFF
    cuda_options
  else
    echo -DKokkosKernels_ENABLE_TPL_BLAS=ON
    openblas_options
  fi
}

# By library and folder where Debian's OpenMP flavour is; else CMake looks for a BLAS.
openblas_options() {
  local folder
  for folder in /usr/lib/*/openblas-openmp; do
    if [[ -d $folder ]]; then printf -- '-D%s\n' BLAS_LIBRARIES=openblas "BLAS_LIBRARY_DIRS=$folder"; fi
  done
}

# What an install depends on.
kokkos_key() {  # variant
  { echo "$1 $kokkos_version"
    { kokkos_options "$1"; kernels_options "$1"; } | grep -vF "$root"  # the cache is for all checkouts
    processor
    "${CXX:-c++}" --version
    [[ $1 != cuda ]] || cat "$root/cmake/cuda13_compat.hpp"
    user_archives; } | sha256 | cut -c 1-16
}

user_archives() { cat "${ANNULUS_KOKKOS_ARCHIVE:-/dev/null}" "${ANNULUS_KOKKOS_KERNELS_ARCHIVE:-/dev/null}"; }

# What find_package would look at; when it changes, bootstrap looks again.
environment_key() { echo "${Kokkos_ROOT:-} ${KokkosKernels_ROOT:-} ${CMAKE_PREFIX_PATH:-}" | sha256 | cut -c 1-16; }

# "Kokkos_DIR;KokkosKernels_DIR" of an install that find_package accepts for this variant; fails where there is none.
accepted_install() {  # variant
  local build log
  build=$(mktemp -d)
  log=$(cmake -G Ninja -S "$root/cmake/accepted_kokkos" -B "$build" -DVARIANT="$1" 2>&1) || log=
  rm -rf "$build"
  sed -n 's/^-- accepted: //p' <<<"$log" | grep .
}

fetch() {  # url sha256 file
  say "downloading $1"
  python3 - "$1" "$3" <<'PYTHON' || return 1
import shutil, sys, urllib.request
try:
    with urllib.request.urlopen(sys.argv[1], timeout=10) as answer, open(sys.argv[2], "wb") as file:
        shutil.copyfileobj(answer, file)
except OSError as error:
    sys.exit(f"  {error}")
PYTHON
  matches "$3" "$2"
}

matches() {  # file sha256
  [[ $(sha256 <"$1") == "$2" ]] || { say "$1 does not have the expected sha256 $2"; return 1; }
}

unpack() { mkdir -p "$2" && tar -xf "$1" -C "$2" --strip-components=1; }  # archive directory

sources_of_user() {  # directory
  [[ -n ${ANNULUS_KOKKOS_ARCHIVE:-} && -n ${ANNULUS_KOKKOS_KERNELS_ARCHIVE:-} ]] || return 1
  say "sources: $ANNULUS_KOKKOS_ARCHIVE and $ANNULUS_KOKKOS_KERNELS_ARCHIVE"
  unpack "$ANNULUS_KOKKOS_ARCHIVE" "$1/kokkos" && unpack "$ANNULUS_KOKKOS_KERNELS_ARCHIVE" "$1/kokkos-kernels"
}

sources_of_release() {  # directory
  say "sources: upstream's release archives"
  fetch "$release/$kokkos_archive" $kokkos_sha256 "$1/kokkos.tar.gz" &&
    fetch "$release/$kernels_archive" $kernels_sha256 "$1/kernels.tar.gz" &&
    unpack "$1/kokkos.tar.gz" "$1/kokkos" && unpack "$1/kernels.tar.gz" "$1/kokkos-kernels"
}

# Debian's own python has the modules that a download without build isolation needs; another on PATH may not.
sources_of_carrier() {  # directory
  local python=/usr/bin/python3
  [[ -x $python ]] || python=python3
  say "sources: the trees inside the Python source distribution $carrier"
  "$python" -m pip download -q --no-deps --no-build-isolation --disable-pip-version-check --retries 1 --timeout 15 \
      --no-binary "${carrier%-*}" -d "$1" "${carrier%-*}==${carrier#*-}" >&2 &&
    matches "$1/$carrier.tar.gz" $carrier_sha256 &&
    unpack "$1/$carrier.tar.gz" "$1/carrier" && mv "$1"/carrier/{kokkos,kokkos-kernels} "$1"
}

# One copy of the sources serves all variants.
ensure_sources() {  # directory
  [[ -d $1 ]] && return
  local work
  work=$(mktemp -d "$cache/sources.XXXXXX")
  sources_of_user "$work" || sources_of_release "$work" || sources_of_carrier "$work" || {
    report_missing_packages
    die "no source of Kokkos $kokkos_version could be fetched. Give one of
  Kokkos_ROOT and KokkosKernels_ROOT: installs, 4.5 <= version < 6
  ANNULUS_KOKKOS_ARCHIVE and ANNULUS_KOKKOS_KERNELS_ARCHIVE: files fetched elsewhere from
    $release/$kokkos_archive
    $release/$kernels_archive"
  }
  mkdir "$work/both"
  mv "$work/kokkos" "$work/kokkos-kernels" "$work/both"
  mv "$work/both" "$1"
  rm -rf "$work"
}

build_one() {  # name source build prefix log option...
  say "building $1 (log: $5)"
  { cmake -G Ninja -S "$2" -B "$3" -DCMAKE_INSTALL_PREFIX="$4" -DCMAKE_PREFIX_PATH="$4" "${@:6}" &&
      cmake --build "$3" --target install; } >>"$5" 2>&1 || { tail -n 20 "$5" >&2; die "building $1 failed"; }
}

# Builds both into PREFIX, which exists only when it is whole.
build_kokkos() {  # variant prefix
  local sources work log=$2.log options
  sources=$cache/sources-$(user_archives | sha256 | cut -c 1-16)
  ensure_sources "$sources"
  work=$(mktemp -d "$cache/build.XXXXXX")
  : >"$log"
  mapfile -t options < <(kokkos_options "$1")
  build_one "Kokkos for $1" "$sources/kokkos" "$work/kokkos" "$work/install" "$log" "${options[@]}"
  mapfile -t options < <(kernels_options "$1")
  build_one "Kokkos Kernels for $1" "$sources/kokkos-kernels" "$work/kernels" "$work/install" "$log" "${options[@]}"
  mv "$work/install" "$2"
  rm -rf "$work"
}

# One line per variant; the key in its comment tells the next call that nothing has changed.
write_record() {  # variant directories key
  mkdir -p "$root/build"
  { echo "# Written by scripts/bootstrap: Kokkos_DIR and KokkosKernels_DIR of each preset."
    grep -s '^set(annulus_kokkos_' "$record" | grep -v "^set(annulus_kokkos_$1 " || true
    echo "set(annulus_kokkos_$1 \"$2\")  # $3"; } >"$record.new"
  mv "$record.new" "$record"
}

is_recorded() {  # variant key
  local line
  line=$(grep -s "^set(annulus_kokkos_$1 .*# $2\$" "$record") || return 1
  [[ -e $(sed -E 's/.*"([^;]*);.*/\1/' <<<"$line")/KokkosConfig.cmake ]]
}

ensure_kokkos() {  # variant
  local key directories prefix
  key="$(kokkos_key "$1") $(environment_key)"
  is_recorded "$1" "$key" && { say "Kokkos for $1 is in place"; return; }
  say "looking for an installed Kokkos for $1"
  if directories=$(accepted_install "$1"); then
    say "using the Kokkos in ${directories%%;*}"
  else
    prefix=$cache/kokkos-$kokkos_version-$1-${key% *}
    mkdir -p "$cache"
    exec {lock}>"$cache/lock"
    flock "$lock"  # two checkouts may share this cache
    rm -rf "$cache"/{build,sources}.??????  # of a call that failed or was killed
    [[ -d $prefix ]] || build_kokkos "$1" "$prefix"
    exec {lock}>&-
    say "using the Kokkos built in $prefix"
    directories="$prefix/lib/cmake/Kokkos;$prefix/lib/cmake/KokkosKernels"
  fi
  write_record "$1" "$directories" "$key"
}
