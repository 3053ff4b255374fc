#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a terminal changes, and what it doesn't.

load helper

# on_terminal COMMAND <answers: with standard input, output and error a terminal
on_terminal() {
	script -qec "$1; echo \"status \$?\"" /dev/null >tty || skip "script doesn't work here"
}

@test "where the output goes doesn't depend on what standard output is" {
	needs script
	gen ndjson 1000 >a
	on_terminal 'vcompress a' </dev/null
	grep -q 'status 0' tty
	vdecompress -c a.zst | cmp - a
	rm a.zst
	vcompress a >out
	[ ! -s out ]
	vdecompress -c a.zst | cmp - a
}

@test "an existing file: a question on a terminal, an error elsewhere" {
	needs script
	gen ndjson 1000 >a
	echo old >a.zst
	status_is 1 vcompress a
	echo y | status_is 1 vcompress a
	[ "$(cat a.zst)" = old ]
	on_terminal 'vcompress a' < <(sleep 0.5; echo n; sleep 0.5)
	grep -q 'overwrite?' tty
	grep -q 'status 1' tty
	[ "$(cat a.zst)" = old ]
	# standard input is data: no question
	on_terminal 'vcompress -o a.zst </dev/null' </dev/null
	[ "$(grep -c 'overwrite?' tty)" = 0 ]
	[ "$(cat a.zst)" = old ]
	on_terminal 'vcompress a' < <(sleep 0.5; echo y; sleep 0.5)
	grep -q 'status 0' tty
	vdecompress -c a.zst | cmp - a
}
