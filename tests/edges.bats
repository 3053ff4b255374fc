#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Edges that a reviewer met: each test is a defect that was once there.

load helper

@test "closed standard descriptors are not taken over by the files we open" {
	seq 1000 >a
	status_is 1 sh -c 'vcompress -c a >&-'
	grep -q 'standard output.*Bad file descriptor\|can.t write: Bad file descriptor' stderr
	status_is 1 sh -c 'vcompress <&- >x'
	# A message must not land in the output that got number 2.
	vcompress -v -o b.zst <a 2>&-
	vdecompress -c b.zst | cmp - a
	vcompress -vv -F gzip a 2>&- <&- >&-
	vdecompress -c a.gz | cmp - a
}

@test "SIGUSR1 never ends a run, not even before the first byte came" {
	mkfifo in
	vcompress <in >out.zst 2>err &
	exec 7>in
	sleep 0.2
	kill -USR1 $!
	sleep 0.2
	echo hello >&7
	exec 7>&-
	wait $!
	[ "$(vdecompress <out.zst)" = hello ]
	grep -q 'vcompress: 0 bytes in, 0 out' err
}
