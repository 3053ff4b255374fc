#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Signals: our own output goes, the parent sees the signal, ignored ones stay
# ignored; SIGUSR1 tells how far we are.

# a pipe is what is tested; files may be called as commands are
# shellcheck disable=SC2002,SC2238

load helper
bats_require_minimum_version 1.5.0

# begin COMMAND...: start it with an input that stays open, wait for its file
begin() {
	mkfifo in
	"$@" <in 2>err &
	pid=$!
	exec 7>in
	echo hello >&7
	for _ in $(seq 100); do
		set -- .out.*
		[ -e "$1" ] && return
		sleep 0.05
	done
	fail "no temporary file came"
}

ends_with() {
	local got=0
	wait "$pid" || got=$?
	exec 7>&-
	[ "$got" -eq "$1" ] || fail "status $got, not $1"
	[ -z "$(find . -name '*out*')" ] || fail "left: $(ls -a)"
}

@test "INT, TERM, HUP, XCPU: the output is removed, the signal seen by the parent" {
	for s in INT:130 TERM:143 HUP:129 XCPU:152; do
		rm -f in
		# a shell's background jobs ignore INT; env gives it back
		begin env --default-signal=INT vcompress -o out
		kill -"${s%:*}" "$pid"
		ends_with "${s#*:}"
	done
}

@test "in the middle of much data too, with threads" {
	gen noise 4M >noise
	for _ in 1 2 3 4 5; do
		env --default-signal=INT vcompress -F lz4 -o out \
			< <(while cat noise; do :; done 2>/dev/null) &
		pid=$!
		for _ in $(seq 100); do
			set -- .out.*
			[ -s "$1" ] && break
			sleep 0.02
		done
		kill -INT "$pid"
		exec 7</dev/null
		ends_with 130
	done
}

@test "a signal that the parent ignores stays ignored" {
	mkfifo in
	(trap '' HUP; exec vcompress -o out <in) &
	pid=$!
	exec 7>in
	echo hello >&7
	sleep 0.3
	kill -HUP "$pid"
	sleep 0.2
	exec 7>&-
	wait "$pid"
	[ "$(vdecompress <out)" = hello ]
}

@test "XFSZ: a file size limit removes the output" {
	gen noise 3M >plain
	run sh -c 'ulimit -f 512; vcompress -o out plain'
	[ "$status" -ne 0 ]
	[ -z "$(find . -name '*out*')" ]
}

@test "SIGUSR1 prints one line and changes nothing" {
	mkfifo in
	vcompress -o out <in 2>err &
	pid=$!
	exec 7>in
	gen text 1M >&7
	sleep 0.5
	kill -USR1 "$pid"
	for _ in $(seq 40); do
		[ -s err ] && break
		sleep 0.05
	done
	exec 7>&-
	wait "$pid"
	[ "$(wc -l <err)" -eq 1 ]
	grep -q 'bytes in' err
	[ "$(vdecompress <out | wc -c)" -eq 1048576 ]
}

@test "no progress where standard error is no terminal" {
	gen text 3M | vcompress --progress 2>err >/dev/null
	[ ! -s err ]
}

@test "progress on a terminal" {
	needs script
	timeout 30 script -qec 'for i in 1 2 3 4; do gen noise 1M; sleep 0.2; done | vcompress -F lz4 -o x' \
		/dev/null </dev/null >tty || skip "script can't make a terminal here"
	grep -q 'MiB/s' tty
}
