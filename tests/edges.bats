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

# A line every 50 ms: a rule about silence alone would keep them all back.
@test "--flush-interval: a steady trickle doesn't hold lines back" {
	for f in zstd lz4 gzip lzv brotli xz; do
		has_codec "$f" || continue
		(for i in $(seq 60); do echo "line $i"; sleep 0.05; done) |
			vcompress -F "$f" --flush-interval=200 >out & pid=$!
		for _ in $(seq 30); do
			sleep 0.05
			[ "$(vdecompress -F "$f" <out 2>/dev/null | head -n 1)" != "line 1" ] || break
		done
		kill -0 "$pid"
		vdecompress -F "$f" <out 2>/dev/null >early || true
		wait "$pid"
		[ "$(head -n 1 early)" = "line 1" ] || fail "$f: $(cat early)"
		[ "$(vdecompress -F "$f" <out | tail -n 1)" = "line 60" ]
	done
}

# 262145 bytes fill a job and leave one byte over; nothing follows.
@test "--flush-interval: bytes behind a full buffer are handed out too" {
	head -c 262145 /dev/zero | tr "\\0" a >plain
	for f in zstd lz4 gzip lzv; do
		for n in 262144 262145; do
			mkfifo "in.$f.$n"
			vcompress -F "$f" --flush-interval=50 <"in.$f.$n" >out & pid=$!
			exec 7>"in.$f.$n"
			head -c "$n" plain >&7
			for _ in $(seq 60); do
				sleep 0.05
				[ "$(vdecompress <out 2>/dev/null | wc -c)" -lt "$n" ] || break
			done
			vdecompress <out 2>/dev/null >early || true
			exec 7>&-
			wait "$pid"
			head -c "$n" plain | cmp - early || fail "$f $n"
		done
	done
}

@test "--files0 from standard input: '-' in the list is refused" {
	echo a >a
	status_is 1 sh -c 'printf "a\\0-\\0" | vcompress --files0'
	grep -q 'the list comes from there' stderr
	[ -e a.zst ]
}

@test "a size out of range is told with the range" {
	status_is 1 vcompress --block-size=1 </dev/null
	grep -q 'block-size takes 1.0 KiB to 1.0 GiB, not 1;' stderr
}

@test "--json: one line for every input, on the same stream whatever its fate" {
	seq 1000 >a
	mkdir d
	head -c 300000 /dev/urandom >noise
	vcompress --json --refuse a nosuch d noise >json 2>err || true
	[ "$(wc -l <json)" -eq 4 ]
	grep -q '"file":"nosuch".*"ok":false.*"reason":"can.t open: No such file' json
	grep -q '"file":"d".*"ok":false.*"reason":"is a folder' json
	[ "$(grep -c '^{' err)" -eq 0 ]
	vcompress --json a >json 2>err || true
	grep -q '"file":"a".*"ok":false.*exists already' json
	vdecompress --json -t a.zst nosuch >json 2>err || true
	grep -q '"file":"nosuch".*"action":"test","ok":false' json
	vdecompress --json -qq a.zst >json 2>err || true
	grep -q '"file":"a.zst".*exists already' json
	[ ! -s err ]
}

@test "--verify without an output file is refused before a byte goes out" {
	seq 100000 >a
	status_is 1 sh -c 'vcompress --verify <a >out'
	[ ! -s out ]
	status_is 1 sh -c 'vcompress --verify -c a >out'
	[ ! -s out ]
}

# The source is written to, same size, while it waits for the output's reader.
@test "--rm keeps a source that changed while it was read" {
	seq 100000 >a
	vcompress a
	for c in "vcompress -f --rm -o pipe a" "vdecompress -f --rm -o pipe a.zst"; do
		f=${c##* }
		rm -f pipe
		mkfifo pipe
		$c 2>err & pid=$!
		exec 7<pipe
		sleep 0.3
		touch -d 2001-01-01 "$f"
		cat <&7 >/dev/null
		exec 7<&-
		got=0
		wait "$pid" || got=$?
		[ -e "$f" ] || fail "$c: deleted"
		grep -q 'changed while it was read' err
		[ "$got" -eq 2 ]
	done
}

@test "--sidecar -f: an old side-car doesn't stay next to a file that won't pack" {
	seq 1000 >a
	vcompress --sidecar=gz,zst a
	[ -e a.gz ] && [ -e a.zst ]
	head -c 5000 /dev/urandom >a
	vcompress -f --sidecar=gz,zst a
	[ ! -e a.gz ] && [ ! -e a.zst ]
}

@test "--long above the memory limit is refused, not above the input" {
	seq 1000 >a
	vcompress --long=31 -M 20M -c a | vdecompress | cmp - a
	status_is 1 sh -c 'seq 200000 | vcompress --long=27 -M 20M'
	grep -q 'with a window of 134217728 bytes needs [0-9]* bytes of memory, the budget is 20971520' stderr
}

# It brings a dozen libraries along, which tripled the time of every start.
@test "a start doesn't load libarchive" {
	LD_DEBUG=files vcompress -F lz4 </dev/null 2>loaded | vdecompress >/dev/null
	[ "$(grep -c libarchive loaded)" = 0 ]
	grep -q 'libc\.so' loaded
}

# Block headers with sizes in them, as xz -T writes them, are decoded by threads.
@test "short xz members in a row don't start threads for each" {
	needs xz strace
	for i in $(seq 60); do echo "line $i" | xz -T2 -c; done >a.xz
	# a sanitizer's leak check can't be traced
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=clone,clone3 -o calls vdecompress -T2 <a.xz | cmp - <(seq -f 'line %g' 60)
	[ "$(wc -l <calls)" -lt 20 ]
}

@test "zstd packs within -M: fewer threads, the same bytes, or an error before the first byte" {
	gen mixed 60M >a
	vcompress -9 -T1 <a >want
	peak kib vcompress -9 -T4 -M 128M <a >out
	cmp out want
	grep -q __asan_init "$build/voltbox" || [ "$(cat kib)" -le 131072 ] || fail "$(cat kib) KiB"
	[ "$(vcompress -9 -T4 -M 32M <a 2>err | wc -c)" -eq 0 ]
	grep -q 'needs [0-9]* bytes of memory, the budget is 33554432' err
	vcompress --seekable=4M -9 -T1 <a >want
	peak kib vcompress --seekable=4M -9 -T4 -M 64M <a >out
	cmp out want
	grep -q __asan_init "$build/voltbox" || [ "$(cat kib)" -le 65536 ] || fail "$(cat kib) KiB"
	status_is 1 vcompress --seekable=4M -19 -M 16M <a
	# a small input needs little at any level
	gen ndjson 100K | vcompress -19 -M 16M | vdecompress -t
}

@test "--sidecar: a line of JSON for each input, clear words for what is none" {
	status_is 1 vcompress --sidecar=gz -
	grep -q 'not beside standard input' stderr
	mkdir d
	vcompress --sidecar=gz --json - d nofile >lines 2>err || [ $? -eq 1 ]
	[ "$(grep -c '"ok":false' lines)" -eq 3 ]
	grep -q "nofile: can't open" err
	# what a codec can't honour is refused here too
	status_is 1 vcompress --sidecar=br,gz --long d
	status_is 1 vcompress --sidecar=gz --transpose=4 d
}

@test "--refuse --json tells the level that was asked for" {
	head -c 300000 /dev/urandom >noise
	status_is 3 vcompress --refuse -5 -c noise
	vcompress --refuse -5 --json noise >line || [ $? -eq 3 ]
	grep -q '"level":5,' line
	vcompress --refuse --json noise >line || [ $? -eq 3 ]
	grep -q '"level":3,' line
}

# In a mount namespace with a cgroup file system of our making: both versions.
@test "threads and memory keep to the cgroup's quota and limit" {
	needs strace unshare
	local d at
	unshare -m true 2>/dev/null || skip "no right to make a mount namespace"
	[ -d /sys/fs/cgroup ] || skip "no /sys/fs/cgroup"
	gen mixed 9M >a
	for d in cg cg/cpu cg/memory; do
		mkdir -p $d
		echo 100000 100000 >$d/cpu.max
		echo 100000 | tee $d/cpu.cfs_quota_us >$d/cpu.cfs_period_us
		echo 33554432 | tee $d/memory.max >$d/memory.limit_in_bytes
	done
	at='mount --bind cg /sys/fs/cgroup &&'
	vcompress -F gzip <a >want
	ASAN_OPTIONS=detect_leaks=0 unshare -m sh -c "$at exec strace -f -qq -e trace=clone,clone3 \
		-o calls vcompress -F gzip" <a | cmp - want
	[ ! -s calls ] || fail "threads in spite of a quota of one CPU"
	status_is 1 unshare -m sh -c "$at exec vcompress -F zstd -19 --long=27 -o x a"
	grep -qi 'memory' stderr
	# room for two CPUs and no limit of memory
	for d in cg cg/cpu cg/memory; do
		echo 200000 100000 >$d/cpu.max
		echo 200000 >$d/cpu.cfs_quota_us
		echo max >$d/memory.max
		echo 9223372036854771712 >$d/memory.limit_in_bytes
	done
	unshare -m sh -c "$at exec vcompress -F zstd -19 --long=27 -o x a"
	vdecompress -c x | cmp - a
}

# What a start loads beside libc costs every small file; a library that is called
# late and isn't there must not leave a temporary file behind.
@test "libraries without an archive are loaded when first called" {
	needs readelf
	if readelf -d "$(command -v vcompress)" | grep -q 'NEEDED.*libzstd'; then
		skip "linked with shared libraries"
	fi
	mkdir bad out
	echo "no library" >bad/libzstd.so.1
	seq 100 >a
	(
		export LD_LIBRARY_PATH=$PWD/bad
		for f in lz4 gzip lzv; do vcompress -F "$f" <a | vdecompress | cmp - a; done
		status_is 1 vcompress -F zstd -o out/a.zst a
	)
	grep -q 'libzstd\.so\.1' stderr
	[ -z "$(ls -A out)" ]
}

@test "gzip of a small input: other readers, levels, and where the small engine ends" {
	needs python3
	for n in 0 1 100 1023 1024 1025 3000; do
		seq 900 >all; head -c "$n" all >a
		for level in 1 6 9; do
			vcompress -F gzip -"$level" <a >a.gz
			gzip -dc a.gz | cmp - a
		done
		vcompress -F zlib <a | python3 -c 'import sys, zlib
d = sys.stdin.buffer.read()
sys.stdout.buffer.write(zlib.decompress(d))' | cmp - a
	done
}
