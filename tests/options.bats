#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Options: spelling, refusals, levels, the environment, help, completions.

# a pipe is what is tested; files may be called as commands are
# shellcheck disable=SC2002,SC2238

load helper
bats_require_minimum_version 1.5.0

@test "clusters, attached and separate arguments mean the same" {
	echo hello >f
	vcompress -kfT2 -F lz4 f
	vcompress -kf -T 2 -Flz4 f -c >a
	vcompress --keep --force --threads=2 --format=lz4 -c f >b
	vcompress --keep --force --threads 2 --format lz4 -c f >c
	same f.lz4 a
	same a b
	same b c
}

@test "options may follow operands" {
	echo hello >f
	vcompress f -c -F gzip | vdecompress | cmp - f
}

@test "abbreviations and unknown options are refused" {
	for o in --forc --unknown -Z --threads=x -Tx --keep=yes --format --trailing=maybe; do
		status_is 1 vdecompress $o /dev/null
		[ -s stderr ]
	done
	status_is 1 vcompress --thread=2 /dev/null
}

@test "levels: -1 .. -22, clustered, --fast, out of range refused" {
	gen text 300K >f
	big=$(vcompress -1 <f | wc -c)
	small=$(vcompress -c19 <f | wc -c)
	[ "$small" -lt "$big" ]
	fast=$(vcompress --fast=5 <f | wc -c)
	[ "$fast" -gt "$big" ]
	vcompress -22 <f | vdecompress | cmp - f
	status_is 1 vcompress -F gzip -13 -c f
	grep -q 'levels 0 to 12' stderr
	status_is 1 vcompress -F gzip --fast -c f
	status_is 1 vcompress -F raw -3 -c f
}

@test "an option that a codec can't honour is refused, not ignored" {
	echo hello >f
	for o in "-F gzip -D f" "-F gzip --long" "-F gzip --no-check" "-F zstd --favor=size" \
		"-F zstd --transpose=4" "-F gzip --check"; do
		# shellcheck disable=SC2086
		status_is 1 vcompress $o -c f
		grep -q 'means nothing for' stderr
	done
	echo hello | vcompress -F gzip >f.gz
	status_is 1 vdecompress -D f -c f.gz
}

@test "VOLTBOX_LEVEL and VOLTBOX_THREADS" {
	gen text 300K >f
	VOLTBOX_LEVEL=19 vcompress <f >a
	vcompress -19 <f >b
	same a b
	VOLTBOX_LEVEL=19 vcompress -1 <f >a
	vcompress -1 <f >b
	same a b
	VOLTBOX_THREADS=1 vcompress <f >a
	VOLTBOX_THREADS=x status_is 1 vcompress -c f
	VOLTBOX_LEVEL=x status_is 1 vcompress -c f
}

@test "sizes: suffixes K, M, G, KiB; nonsense refused" {
	gen zero 3M | vcompress >z
	for s in 3M 3MiB 3072K 3145728 3072KiB 3m; do
		status_is 0 vdecompress -t --max-output=$s z
	done
	for s in 2M 3145727 2.9M; do
		status_is 1 vdecompress -t --max-output=$s z
	done
	for s in x 3X -1 '' 3MM 1e9; do
		status_is 1 vdecompress -t "--max-output=$s" z
		grep -q 'needs a size' stderr
	done
}

@test "--check and --no-check are seen in the listing" {
	echo hello >f
	[ "$(vcompress -c f | vdecompress -l | tail -1 | awk '{print $6}')" = xxh64 ]
	[ "$(vcompress --no-check -c f | vdecompress -l | tail -1 | awk '{print $6}')" = none ]
}

@test "--long: the window is in the listing, any window decodes within -M" {
	gen text 3M >f
	cat f | vcompress --long=24 >z
	vdecompress -l z | grep -q '16.0 MiB'
	vdecompress <z | cmp - f
	status_is 1 vdecompress -t -M 2M z
	[ -s stderr ]
}

@test "vcompress -d, -t and -l do what zstd's users expect" {
	echo hello >f
	vcompress f
	[ "$(vcompress -dc f.zst)" = hello ]
	[ "$(vcompress --decompress -c f.zst)" = hello ]
	vcompress -t f.zst
	vcompress -l f.zst | grep -q zstd
	# -D takes the next word, which is no cluster
	vcompress -D f -F lz4 -c f >/dev/null
}

@test "-v says more, -q less, the status is the same" {
	echo hello >f
	vcompress -v -c f 2>err >/dev/null
	[ -s err ]
	run -2 vcompress -q .
	[ -z "$output" ]
	run -1 vcompress -qq missing
	[ -z "$output" ]
}

@test "messages name the applet, the file and the reason" {
	run -1 vdecompress missing.zst
	[ "$output" = "vdecompress: missing.zst: can't open: No such file or directory" ]
	run -1 voltbox vdecompress missing.zst
	[ "$output" = "vdecompress: missing.zst: can't open: No such file or directory" ]
}

@test "control characters of a name don't reach the terminal" {
	run -1 vdecompress $'a\033[31mb'
	[[ $output != *$'\033'* ]]
}

@test "contradictions are refused" {
	echo a >a
	echo b >b
	status_is 1 vcompress -o x a b
	status_is 1 vcompress -o x -c a
	status_is 1 vdecompress -t -c a
	status_is 1 vcompress -F nothing a
}

@test "packed data are not written to or read from a terminal without -f" {
	needs script
	script -qec 'vcompress </dev/null; echo "status $?"' /dev/null </dev/null >tty ||
		skip "script can't make a terminal here"
	grep -q 'status 1' tty
	grep -q terminal tty
}

@test "voltbox: applets, links, versions" {
	voltbox --list | grep -qx vcompress
	voltbox --version | grep -q '^kernel '
	voltbox --version | grep -q '^zstd [0-9]'
	mkdir bin
	voltbox --install bin
	echo hello | bin/vcompress | bin/vdecompress | grep -qx hello
	echo hello | voltbox vcompress | voltbox vdecompress | grep -qx hello
	status_is 1 voltbox nothing
}

@test "a kernel is forced by name, an unknown one refused" {
	gen text 100K >f
	vcompress --kernel=portable -c f | vdecompress --kernel=portable | cmp - f
	status_is 1 vcompress --kernel=none -c f
}

@test "--help names every option that is parsed, and goes to stdout" {
	for a in $(voltbox --list); do
		$a --help >help
		grep -q "^Usage: $a" help
		grep -q -- --quiet help
	done
}

@test "completions are what the option tables say, and the shells read them" {
	for s in bash zsh fish; do
		voltbox --completion $s >now
		case $s in
		zsh) kept=$root/completions/_voltbox ;;
		*) kept=$root/completions/voltbox.$s ;;
		esac
		cmp now "$kept" || fail "run make completions"
	done
	bash -n "$root/completions/voltbox.bash"
	bash -c '. "$1"
		COMP_WORDS=(vcompress --verb); COMP_CWORD=1; _vcompress 2>/dev/null
		[ "${COMPREPLY[0]}" = --verbose ]' - "$root/completions/voltbox.bash"
	if command -v zsh >/dev/null; then zsh -n "$root/completions/_voltbox"; fi
	if command -v fish >/dev/null; then fish -n "$root/completions/voltbox.fish"; fi
}
