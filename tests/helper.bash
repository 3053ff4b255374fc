# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What every bats file loads ("load helper"): the built commands first on PATH,
# a fresh folder as the working directory, where the shared data are, and the
# few words that tests are written in.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${BUILD:=build} in
/*) build=$BUILD ;;
*) build=$root/$BUILD ;;
esac
shared=${VOLTBOX_SHARED:-../shared}
case $shared in /*) ;; *) shared=$root/$shared ;; esac
tools=$build/tests
export PATH="$build:$tools:$PATH" LC_ALL=C
unset VOLTBOX_LEVEL VOLTBOX_THREADS
set -o pipefail

setup() {
	cd "${BATS_TEST_TMPDIR:?}" || return
}

# needs PROGRAM...: skip the test where one is missing
needs() {
	local p
	for p; do
		command -v "$p" >/dev/null || skip "$p is not installed"
	done
}

# needs_shared FOLDER: skip the test where the shared data are not at hand
needs_shared() {
	[ -d "$shared/$1" ] || skip "no shared data: ../shared/$1"
}

# has_codec NAME: the binary has this codec built in
has_codec() {
	printf '' | vcompress -F "$1" >/dev/null 2>&1
}

# needs_codec NAME...: skip the test where one isn't built in
needs_codec() {
	local c
	for c; do
		has_codec "$c" || skip "codec $c is not built in"
	done
}

# fail WORDS...: say why, end the test
fail() {
	echo "$*" >&2
	return 1
}

# status_is N COMMAND...: COMMAND ends with status N; its output is dropped
status_is() {
	local want=$1 got=0
	shift
	"$@" >/dev/null 2>stderr || got=$?
	[ "$got" -eq "$want" ] ||
		fail "status $got, not $want: $* ($(head -c 200 stderr))"
}

# same A B: equal files
same() {
	cmp -- "$1" "$2" || fail "$1 and $2 differ"
}

sha() {
	sha256sum | cut -d' ' -f1
}
