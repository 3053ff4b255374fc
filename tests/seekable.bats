#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The seekable zstd format, and zstd inputs of many frames.

load helper

part() { # part FILE OFF LEN
	dd if="$1" iflag=skip_bytes,count_bytes skip="$2" count="$3" status=none
}

# put FILE OFFSET HEX: other bytes there
put() {
	printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# sanitized: the build's memory isn't the program's
sanitized() {
	grep -q __asan_init "$build/voltbox"
}

# bats test_tags=quick
@test "--seekable: the same bytes for every -T, from a file or in pieces; any zstd reads them" {
	needs zstd
	gen mixed 3M >a
	vcompress --seekable=100K -T1 <a >want
	for t in 2 4; do
		vcompress --seekable=100K -T$t -c a | cmp - want
	done
	dribble -n 4001 a vcompress --seekable=100K | cmp - want
	zstd -dc want | cmp - a
	zstd -lv want | grep -q 'Check: XXH64'
	for t in 1 2 4; do
		vdecompress -T$t <want | cmp - a
		cat want want | vdecompress -T$t | cmp - <(cat a a)
	done
	# noise of which a high level is spared, and the same bytes again
	gen noise 2M >n
	cat n a n >mix
	vcompress --seekable=1M -9 -T1 <mix >x
	vcompress --seekable=1M -9 -T4 <mix | cmp - x
	zstd -dc x | cmp - mix
}

@test "--seekable: empty, one byte, less than a frame, just a frame" {
	needs zstd
	for n in 0 1 1023 1024 1025 4096; do
		gen ndjson $n >a
		vcompress --seekable=1K <a >a.zst
		zstd -dc a.zst | cmp - a
		vdecompress <a.zst | cmp - a
		vdecompress --range=0:$n a.zst | cmp - a
		[ "$(vdecompress -l --json a.zst | grep -o '"seek_frames":[0-9]*')" = \
			"\"seek_frames\":$((n ? (n + 1023) / 1024 : 1))" ]
	done
}

@test "--seekable: other codecs refuse it, and sizes out of range" {
	status_is 1 vcompress -F gzip --seekable </dev/null
	grep -q -e '--seekable means nothing for gzip' stderr
	status_is 1 vcompress --seekable=1000 </dev/null
	status_is 1 vcompress --seekable=2G </dev/null
	status_is 1 vcompress --seekable --sidecar=gz,zst /dev/null
}

@test "--seekable with a dictionary, without checks, with --flush-interval and --verify" {
	gen ndjson 300K >a
	gen ndjson 20K >dict
	vcompress --seekable=20K -D dict -9 -T1 -c a >d1
	vcompress --seekable=20K -D dict -9 -T4 -c a >d4
	cmp d1 d4
	vdecompress -D dict <d1 | cmp - a
	vdecompress -D dict --range=100000:50000 d1 | cmp - <(part a 100000 50000)
	vcompress --seekable=20K --no-check -c a >n.zst
	vdecompress --range=100000:50000 n.zst | cmp - <(part a 100000 50000)
	[ "$(stat -c %s n.zst)" -lt "$(vcompress --seekable=20K -c a | wc -c)" ]
	(cat a; sleep 0.3; cat a; sleep 0.3) |
		vcompress --seekable=1M --flush-interval=50 >f.zst
	cat a a >aa
	vdecompress <f.zst | cmp - aa
	vdecompress --range=250000:100000 f.zst | cmp - <(part aa 250000 100000)
	vcompress --seekable=20K --verify a
	vdecompress -t a.zst
}

# bats test_tags=quick
@test "--range of a seekable file: every place, and little is read" {
	gen mixed 3M >a
	vcompress --seekable=64K a
	size=$(stat -c %s a)
	for r in 0:0 0:1 65535:2 65536:65536 1000000:200000 $((size - 5)):5; do
		vdecompress --range=$r a.zst | cmp - <(part a "${r%:*}" "${r#*:}") || fail $r
	done
	status_is 1 vdecompress --range=$((size - 1)):2 a.zst
	grep -q "behind the $size bytes" stderr
	vdecompress --range=70000:9 -o out a.zst
	cmp out <(part a 70000 9)
	vcompress -f a
	status_is 1 vdecompress --range=0:5 a.zst
	grep -q 'no seek table' stderr
	status_is 1 vdecompress --range=0:5 - < <(cat a.zst)
}

@test "--range of a large seekable file reads little of it" {
	gen mixed 100M | vcompress --seekable -1 >a
	size=$(stat -c %s a)
	strace -f -e trace=read,pread64 -o trace vdecompress --range=50M:1000 a >out 2>/dev/null ||
		skip "strace doesn't work here"
	bytes=$(awk '/= [0-9]+$/ { s += $NF } END { print s }' trace)
	[ "$bytes" -lt $((size / 20)) ] || fail "read $bytes of $size bytes"
}

@test "-l shows the table; one that lies is a warning of -t, and no matter for the data" {
	gen ndjson 100K >a
	vcompress --seekable=10K a
	vdecompress -l a.zst | grep -q 'seekable: 10 frames'
	vdecompress -lv a.zst | grep -q 'seek-table'
	vdecompress -l <a.zst | grep -q 'seekable: 10 frames'
	cat a.zst a.zst >two
	vdecompress -t two
	status_is 1 vdecompress --range=0:5 two
	grep -q "doesn't cover all" stderr
	table=$(($(stat -c %s a.zst) - 9 - 120 - 8))
	cp a.zst bad
	put bad $((table + 8)) '\x01'
	vdecompress <bad | cmp - a
	status_is 2 vdecompress -t bad
	grep -q "offset $table" stderr
	status_is 2 vdecompress -l - < <(cat bad)
	status_is 1 vdecompress --range=0:5 bad
}

@test "a hostile seek table: an error with an offset, and no memory" {
	gen ndjson 100K >a
	vcompress --seekable=10K a
	n=$(stat -c %s a.zst)
	# 2^27 frames in a file of kilobytes; one more than there are; none
	for frames in '\x00\x00\x00\x08' '\xff\xff\xff\xff' '\x0b\x00\x00\x00' '\x00\x00\x00\x00'; do
		cp a.zst bad
		put bad $((n - 9)) "$frames"
		status_is 1 vdecompress --range=0:5 bad
		grep -q 'offset\|no seek table' stderr
		vdecompress <bad | cmp - a
	done
	# a frame of 4 GiB, packed or decoded
	for at in 0 4; do
		cp a.zst bad
		put bad $((n - 9 - 120 + at)) '\xff\xff\xff\xff'
		status_is 1 peak kib vdecompress --range=0:5 bad
		sanitized || [ "$(cat kib)" -lt 50000 ] || fail "$(cat kib) KiB"
		grep -q 'offset [0-9]' stderr
	done
}

@test "damage: every byte of a seekable file, by --range and as a stream" {
	export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=halt_on_error=1
	gen ndjson 3000 >a
	vcompress --seekable=1K <a >packed
	# shellcheck disable=SC2016
	read='cat >f.$$; vdecompress --range=0:3000 f.$$; s=$?; rm f.$$; exit $s'
	mangle -s "${VOLTBOX_STRIDE:-1}" flip packed a sh -c "$read"
	mangle -s "${VOLTBOX_STRIDE:-1}" flip packed a vdecompress -T2
	mangle -s $((3 * ${VOLTBOX_STRIDE:-1})) -f .zst flip packed a vdecompress -q -T2
}

@test "python's pyzstd and zstandard read --seekable, and --range reads pyzstd's" {
	needs python3
	python3 -c 'import pyzstd, zstandard' 2>/dev/null || skip "no pyzstd and zstandard"
	gen mixed 3M >a
	vcompress --seekable=300K a
	vcompress --seekable=1K --no-check -c </dev/null >e.zst
	python3 - <<-'PY'
		import io, pyzstd, zstandard
		d = open("a", "rb").read()
		f = pyzstd.SeekableZstdFile("a.zst")
		assert f.read() == d
		for at in (0, 299999 * 1024 // 1000, len(d) - 7):
		    f.seek(at)
		    assert f.read(5000) == d[at:at + 5000], at
		assert pyzstd.SeekableZstdFile("e.zst").read() == b""
		r = zstandard.ZstdDecompressor().stream_reader(open("a.zst", "rb"), read_across_frames=True)
		assert r.read() == d
		with pyzstd.SeekableZstdFile("p.zst", "w", max_frame_content_size=100000) as g:
		    g.write(d)
	PY
	vdecompress -t p.zst
	vdecompress --range=1234567:300000 p.zst | cmp - <(part a 1234567 300000)
}

# bats test_tags=quick
@test "many frames in a row: threads give what one gives, whoever made them" {
	needs zstd
	gen mixed 2M >a
	for i in 1 2 3; do
		zstd -qc a
		zstd -qc --no-check <a
		vcompress --long=20 <a
		printf '\x53\x2a\x4d\x18\x05\0\0\0hello'
		vcompress -F gzip <a
		vcompress </dev/null
	done >many
	vdecompress -T1 <many >want
	[ "$(stat -c %s want)" = $((12 * 2097152)) ]
	vdecompress -T4 <many | cmp - want
	vdecompress -T4 -c many | cmp - want
	vdecompress -lv -T1 <many >list1
	vdecompress -lv -T4 <many | cmp - list1
	if command -v pzstd >/dev/null; then
		cat a a a a a a a a a a >b
		pzstd -q -p2 -1 -o b.zst b
		vdecompress -T4 <b.zst | cmp - b
	fi
}

@test "many frames in a row: memory stays within -M, a large one goes alone" {
	gen mixed 3M >a
	for i in 1 2 3 4 5 6 7 8; do vcompress -1 <a; done >many
	cat a a a a a a a a >want
	gen zero 300M | vcompress >zero.zst
	cat many zero.zst many >mix
	for m in 8M 80M; do
		vdecompress -T4 -M $m <many | cmp - want
		peak kib vdecompress -T4 -M $m <mix >out
		[ "$(stat -c %s out)" = $((314572800 + 48 * 1048576)) ]
		sanitized || [ "$(cat kib)" -lt $((${m%M} * 1024)) ] ||
			fail "-M $m: $(cat kib) KiB"
	done
	status_is 1 vdecompress -T4 --max-output=10M <many
	[ "$(vdecompress -T4 --max-output=10M <many 2>/dev/null | wc -c)" -le 10485760 ]
}

@test "many frames in a row: the first bytes of one don't wait for its end" {
	gen ndjson 4000 >a
	vcompress a
	vcompress <<<'a last one' >b.zst
	(cat a.zst a.zst; head -c 300 a.zst; sleep 1.5; tail -c +301 a.zst; cat b.zst) |
		vdecompress -T4 >out &
	sleep 0.7
	[ "$(stat -c %s out)" -ge 8000 ]
	wait
	cmp out <(cat a a a; echo 'a last one')
}
