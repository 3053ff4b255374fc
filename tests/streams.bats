#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Streams: standard input to standard output, members, trailing bytes, the
# exit status, broken pipes, full devices.

# a pipe is what is tested; files may be called as commands are
# shellcheck disable=SC2002,SC2238

load helper
bats_require_minimum_version 1.5.0

@test "stdin to stdout is the default, '-' is the same" {
	echo hello >plain
	vcompress <plain >a
	vcompress - <plain >b
	same a b
	[ "$(vdecompress <a)" = hello ]
	[ "$(vdecompress - <a)" = hello ]
}

@test "'--' ends options" {
	echo hello >-x
	vcompress -- -x
	rm -- -x
	vdecompress -- -x.zst
	[ "$(cat -- -x)" = hello ]
}

@test "files with -c and in a row give one stream" {
	echo one >a
	echo two >b
	vcompress -c a b >both
	[ "$(vdecompress <both)" = "$(printf 'one\ntwo')" ]
}

@test "members of different formats in a row decode one after another" {
	{
		echo a | vcompress -F zstd
		echo b | vcompress -F gzip
		echo c | vcompress -F lz4
		echo d | vcompress -F zlib
	} >mixed
	[ "$(vdecompress <mixed | tr -d '\n')" = abcd ]
	[ "$(cat mixed | vdecompress | tr -d '\n')" = abcd ]
}

@test "skippable frames are read past, before, between and behind" {
	printf '\x50\x2a\x4d\x18\x03\0\0\0xyz' >skip
	echo a | vcompress -F zstd >a
	echo b | vcompress -F lz4 >b
	[ "$(cat skip a skip b skip | vdecompress | tr -d '\n')" = ab ]
	status_is 0 vdecompress -t skip
}

@test "a skippable frame cut short is an error with its offset" {
	printf '\x50\x2a\x4d\x18\x09\0\0\0xyz' >skip
	status_is 1 vdecompress skip -c
	grep -q 'skippable frame (offset 11)' stderr
}

@test "trailing zeros are padding" {
	{ echo a | vcompress; head -c 5000 /dev/zero; } >padded
	status_is 0 vdecompress -t padded
	[ "$(vdecompress <padded)" = a ]
}

@test "other trailing bytes: an error with the offset of the first" {
	echo a | vcompress >a
	n=$(wc -c <a)
	{ cat a; echo garbage; } >bad
	status_is 1 vdecompress -t bad
	grep -q "(offset $n)" stderr
	{ cat a; printf '\0\0\0\0x'; } >bad
	status_is 1 vdecompress -t bad
	grep -q "(offset $((n + 4)))" stderr
}

@test "--trailing=warn gives status 2, ignore gives 0, both the data" {
	{ echo a | vcompress; echo garbage; } >bad
	status_is 2 vdecompress -c --trailing=warn bad
	status_is 0 vdecompress -c --trailing=ignore bad
	[ "$(vdecompress --trailing=ignore <bad)" = a ]
}

@test "brotli: a byte behind the end is an error" {
	needs_codec brotli
	{ echo a | vcompress -F brotli; printf x; } >bad
	status_is 1 vdecompress -F brotli -c bad
	{ echo a | vcompress -F brotli; echo b | vcompress -F brotli; } >bad
	status_is 1 vdecompress -F brotli -c bad
}

@test "unknown input: an error and not one byte; --pass-through copies it" {
	echo 'plain text, no codec claims it' >plain
	status_is 1 vdecompress -c plain
	[ "$(vdecompress <plain 2>/dev/null | wc -c)" -eq 0 ]
	vdecompress --pass-through <plain >copy
	same plain copy
	gen noise 3M >noise
	vdecompress --pass-through <noise | cmp - noise
}

@test "empty input packs to a stream; unpacking nothing is an error" {
	vcompress </dev/null >packed
	[ -s packed ]
	[ "$(vdecompress <packed | wc -c)" -eq 0 ]
	status_is 1 vdecompress -c /dev/null
	status_is 1 vdecompress -F gzip -c /dev/null
}

@test "a truncated input is an error after what was whole" {
	gen text 3M >plain
	for f in zstd lz4 gzip; do
		vcompress -F $f plain -c | head -c -5 >cut
		status_is 1 vdecompress -c cut
		status_is 1 vdecompress -t -T1 cut
	done
}

@test "/dev/full is an error, for a first and for a late write" {
	[ -e /dev/full ] || skip "no /dev/full"
	gen text 3M >plain
	vcompress <plain >packed
	for t in 1 2; do
		run -1 sh -c "vcompress -T$t <plain >/dev/full"
		[[ $output == *space* ]]
		run -1 sh -c "vdecompress -T$t <packed >/dev/full"
		[[ $output == *space* ]]
	done
	run -1 sh -c "vcompress -F lz4 </dev/null >/dev/full"
	run -1 sh -c "vdecompress -l packed >/dev/full"
	run -1 sh -c "vcompress --help >/dev/full"
	run -1 sh -c "voltbox --version >/dev/full"
}

@test "a broken pipe: no message, a status that isn't 0" {
	gen noise 8M >plain
	vcompress <plain >packed
	for cmd in "vcompress -T1" "vcompress -T2" "vcompress -F lz4" "vcompress -F gzip"; do
		{ $cmd <plain 2>err || echo $? >status; } | head -c 1 >/dev/null
		[ "$(cat status)" -eq 1 ]
		[ ! -s err ]
	done
	for cmd in "vdecompress -T1" "vdecompress -T2"; do
		{ $cmd <packed 2>err || echo $? >status; } | head -c 1 >/dev/null
		[ "$(cat status)" -eq 1 ]
		[ ! -s err ]
	done
}

@test "a reader that goes away ends us though the input stays open" {
	gen noise 40M >plain
	for f in zstd lz4 gzip; do
		rm -f in status
		mkfifo in
		# what is written doesn't end, so only the broken pipe can end us
		(cat plain; exec sleep 60) >in 2>/dev/null 3>&- &
		feeder=$!
		{ timeout 20 vcompress -F $f <in 2>err || echo $? >status; } | head -c 1 >/dev/null
		kill $feeder 2>/dev/null || true
		[ "$(cat status)" -eq 1 ] || fail "$f: $(cat status)"
		[ ! -s err ]
	done
}

@test "non-blocking pipes are waited for" {
	needs python3
	gen text 4M >plain
	cat >nonblock.py <<-'PY'
	import os, subprocess, sys, threading, time
	# both ends of both pipes of the command don't block
	ri, wi = os.pipe(); ro, wo = os.pipe()
	os.set_blocking(ri, False); os.set_blocking(wo, False)
	p = subprocess.Popen(sys.argv[1:], stdin=ri, stdout=wo)
	os.close(ri); os.close(wo)
	data = sys.stdin.buffer.read()
	def feed():
	    for i in range(0, len(data), 300000):
	        time.sleep(0.01); f = 0; part = data[i:i + 300000]
	        while f < len(part): f += os.write(wi, part[f:])
	    os.close(wi)
	threading.Thread(target=feed).start()
	while True:
	    time.sleep(0.001)
	    b = os.read(ro, 65536)
	    if not b: break
	    sys.stdout.buffer.write(b)
	sys.exit(p.wait())
	PY
	for f in zstd lz4; do
		python3 nonblock.py vcompress -F $f <plain >packed
		python3 nonblock.py vdecompress <packed >copy
		same plain copy
	done
}

@test "the same bytes for every -T and every way to read" {
	gen mixed 5M >plain
	for f in zstd lz4 gzip zlib lzv; do
		has_codec $f || continue
		vcompress -F $f -T1 -c <plain >one
		for t in 2 3 8; do
			vcompress -F $f -T$t -c <plain >many
			same one many
		done
		dribble -n 3001 plain vcompress -F $f >piped
		cat plain | vcompress -F $f -T1 >whole
		same whole piped
	done
}

@test "one byte at a time gives the same as all at once" {
	gen text 3000 >plain
	for f in zstd lz4 gzip; do
		vcompress -F $f <plain >packed
		dribble packed vdecompress >copy
		same plain copy
		dribble plain vcompress -F $f | vdecompress >copy
		same plain copy
	done
}

@test "--flush-interval: what was written is out before the end" {
	for f in zstd lz4 gzip brotli lzv; do
		has_codec $f || continue
		rm -f in out && mkfifo in
		vcompress -F $f --flush-interval 50 <in | vdecompress -F $f >out &
		exec 7>in
		echo first >&7
		for _ in $(seq 60); do
			[ -s out ] && break
			sleep 0.05
		done
		[ "$(cat out)" = first ] || fail "$f: nothing after 3 s"
		echo second >&7
		exec 7>&-
		wait
		[ "$(cat out)" = "$(printf 'first\nsecond')" ]
	done
}

@test "a decoder hands out what it can decode at once" {
	echo first | vcompress -F lz4 >a
	echo second | vcompress -F lz4 >b
	mkfifo in
	vdecompress <in >out &
	exec 7>in
	cat a >&7
	for _ in $(seq 60); do
		[ -s out ] && break
		sleep 0.05
	done
	[ "$(cat out)" = first ]
	cat b >&7
	exec 7>&-
	wait
	[ "$(cat out)" = "$(printf 'first\nsecond')" ]
}

@test "--max-output and --max-ratio stop before they are passed" {
	gen zero 9M >plain
	for f in zstd lz4 gzip; do
		vcompress -F $f <plain >bomb
		status_is 1 vdecompress -c --max-output=1M bomb
		grep -q -- --max-output stderr
		[ "$(vdecompress -c --max-output=1M bomb 2>/dev/null | wc -c)" -le 1048576 ]
		status_is 1 vdecompress -t --max-ratio=20 bomb
		grep -q -- --max-ratio stderr
		status_is 0 vdecompress -t --max-output=9M --max-ratio=100000 bomb
	done
}

@test "incompressible input grows by next to nothing and is stored" {
	gen noise 3M >plain
	for f in zstd lz4 gzip lzv; do
		has_codec $f || continue
		n=$(vcompress -F $f <plain | wc -c)
		[ "$n" -le $((3 * 1048576 + 3 * 1048576 / 2000 + 64)) ] || fail "$f: $n"
	done
}

@test "--refuse: status 3 and nothing written when it isn't worth it" {
	gen noise 300K >noise
	gen text 300K >text
	status_is 3 vcompress --refuse -c noise
	[ "$(vcompress --refuse <noise | wc -c)" -eq 0 ]
	status_is 3 vcompress --refuse noise
	[ ! -e noise.zst ]
	status_is 0 vcompress --refuse text
	vdecompress -c text.zst | cmp - text
}

@test "--no-probe packs what the probe would store, with the same content" {
	gen noise 300K >noise
	vcompress -F lz4 --no-probe <noise | vdecompress | cmp - noise
}

@test "a read error is not the end of the input" {
	# reading a folder's descriptor fails with EISDIR
	run -1 sh -c 'vcompress <.'
	[ -n "$output" ]
	run -1 sh -c 'vdecompress <.'
	[ -n "$output" ]
}

@test "a closed stdin or stdout is an error" {
	echo x >plain
	run -1 sh -c 'vcompress <&-'
	run -1 sh -c 'vcompress <plain >&-'
}

@test "-l tells a file and a pipe apart in nothing but the name" {
	gen text 200K >plain
	vcompress -F gzip plain
	vdecompress -l plain.gz >a
	cat plain.gz | vdecompress -l >b
	[ "$(tail -1 a | awk '{print $1, $2, $3, $4, $5}')" = "$(tail -1 b | awk '{print $1, $2, $3, $4, $5}')" ]
	[ "$(tail -1 a | awk '{print $1, $2, $4}')" = "gzip 1 204800" ]
}

@test "-l --json lists members with their offsets and checks" {
	needs python3
	{ echo a | vcompress; echo bc | vcompress -F gzip; } >two
	vdecompress -l --json <two >json
	python3 - <<-'PY'
	import json
	j = json.load(open("json"))
	assert j["format"] == "zstd+gzip" and j["members"] == 2, j
	assert [m["raw"] for m in j["list"]] == [2, 3], j
	assert j["list"][0]["offset"] == 0 and j["list"][1]["offset"] == j["list"][0]["packed"], j
	assert j["list"][0]["check"] == "xxh64" and j["list"][1]["check"] == "crc32", j
	assert j["ok"] is True
	PY
}

@test "--json on a failure carries the reason and the offset" {
	needs python3
	{ echo a | vcompress; echo garbage; } >bad
	run -1 --separate-stderr vdecompress -t --json bad
	echo "$output" | python3 -c 'import json,sys
j = json.load(sys.stdin)
assert j["ok"] is False and j["error"]["offset"] > 0 and j["error"]["reason"], j'
}

@test "--json of a stream goes to stderr, its data to stdout" {
	needs python3
	echo hello | vcompress --json >out 2>json
	[ "$(vdecompress <out)" = hello ]
	python3 -c 'import json
j = json.load(open("json"))
assert (j["raw"], j["format"], j["level"], j["action"]) == (6, "zstd", 3, "pack"), j'
}

@test "threads: none for a small input, with -T1, or when affinity leaves one CPU" {
	needs strace taskset
	export ASAN_OPTIONS=detect_leaks=0	# its leak check can't be traced
	gen text 8M >plain
	echo small >small
	count() {
		strace -f -qq -o trace -e trace=clone,clone3 "$@" >/dev/null
		grep -c clone trace || true
	}
	[ "$(count vcompress -F lz4 -T4 -c small)" -eq 0 ]
	[ "$(count vcompress -F lz4 -T1 -c plain)" -eq 0 ]
	[ "$(count vcompress -F lz4 -T2 -c plain)" -eq 3 ]
	[ "$(count taskset -c 0 vcompress -F lz4 -c plain)" -eq 0 ]
	vcompress -F lz4 plain
	[ "$(count vdecompress -T1 -c plain.lz4)" -eq 0 ]
	[ "$(count vdecompress -T2 -c plain.lz4)" -eq 3 ]
}

# What nobody looks at goes from pipe to pipe inside the kernel; wherever that
# can't be, the same bytes go through by hand.
@test "raw and --pass-through: pipes, files, appending, slow, closed and full outputs" {
	gen text 3M >a
	for c in "vcompress -F raw" "vdecompress -F raw" "vdecompress --pass-through"; do
		cat a | $c | cmp - a
		cat a | $c >b; cmp b a
		cat a | $c >>b; cat a a | cmp - b
		$c <a | cmp - a
		$c <a >b; cmp b a
		cat a | $c -o c; cmp c a; rm c
		(head -c 1000000 a; sleep 0.3; tail -c +1000001 a) | $c | (sleep 0.2; cat) | cmp - a
		# shellcheck disable=SC2086 # a command and its option
		dribble a $c --json 2>j | cmp - a
		grep -q '"ok":true' j
		(cat a | $c || true) | head -c 2000000 | cmp - <(head -c 2000000 a)
		status_is 1 sh -c "cat a | $c >/dev/full"
		grep -q 'No space left' stderr
	done
	cat a | vcompress -F raw --json 2>j >b
	grep -q '"raw":3145728,"packed":3145728' j
	[ "$(cat a | vdecompress --pass-through --max-output=2M 2>/dev/null | wc -c)" -le 2097152 ]
}

@test "a long skippable frame costs no copy, and what is behind it is found" {
	printf '\x53\x2a\x4d\x18\x00\x00\x40\x00' >s
	head -c 4M /dev/zero >>s
	echo hello | vcompress -F lz4 >h
	[ "$(cat s h s h | vdecompress -c | tr '\n' .)" = hello.hello. ]
	[ "$(cat s h | vdecompress -T1)" = hello ]
	needs strace
	# a sanitizer's leak check can't be traced
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=splice -o calls sh -c 'cat s h | vdecompress >/dev/null'
	grep -q splice calls
	status_is 1 sh -c 'head -c 3M s | vdecompress'
	grep -q 'inside a skippable frame (offset 3145728)' stderr
}

@test "linked LZ4 blocks: every size, every -T, damaged, slow" {
	needs lz4
	gen mixed 9M >a
	for b in 4 5 6 7; do
		lz4 -qc -BD -B$b a >a.lz4
		for t in 1 2 4; do vdecompress -T$t -c a.lz4 | cmp - a; done
	done
	vdecompress -M 32M -c a.lz4 | cmp - a
	gen text 100K | tee b | lz4 -qc -BD -B4 >b.lz4
	dribble b.lz4 vdecompress -T2 | cmp - b
	lz4 -qc -BD -B4 a >c.lz4
	head -c 4000000 c.lz4 >cut.lz4
	! vdecompress -c cut.lz4 >part || fail "a cut frame is whole"
	cmp part <(head -c "$(wc -c <part)" a)
	[ "$(wc -c <part)" -gt 3000000 ]
	# A flipped offset in a block: refused, or the content checksum tells.
	cp c.lz4 bad.lz4
	printf '\xff\xff' | dd of=bad.lz4 bs=1 seek=3000000 conv=notrunc status=none
	status_is 1 vdecompress -c bad.lz4
}
