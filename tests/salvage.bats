#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# vdecompress --salvage: what is behind damage comes out, what was lost is listed.
# VOLTBOX_STRIDE=N tries every N-th place only (builds with sanitizers are slow).

load helper

export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	for i in 0 1 2 3 4; do gen ndjson $((9000 + 100 * i)) | tail -c +$((i * 40)) >"p$i"; done
	cat p0 p1 p2 p3 p4 >plain
}

# members CODEC [OPTION]...: five of them into packed, the third begins at $third
members() {
	local i
	rm -f packed
	for i in 0 1 2 3 4; do
		[ "$i" != 2 ] || third=$(stat -c %s packed)
		[ "$i" != 3 ] || fourth=$(stat -c %s packed)
		vcompress -F "$@" <"p$i" >>packed
	done
}

# hurt OFFSET [COUNT]: bytes of packed turned over, into hurt
hurt() {
	cp packed hurt
	dd if=packed bs=1 skip="$1" count="${2:-1}" status=none | tr '\0-\377' '\1-\377\0' |
		dd of=hurt bs=1 seek="$1" conv=notrunc status=none
}

@test "--salvage: a damaged member costs itself, for formats with a magic number" {
	for f in zstd lz4 gzip bzip2 xz lzip lzv; do
		has_codec "$f" || continue
		members "$f"
		# near its end, so that what it gave before is long enough to see
		hurt $((third + (fourth - third) * 3 / 4)) 3
		status_is 1 vdecompress --salvage -o out -f hurt
		# of an .lzv file it is the record; what ends the member stands behind it
		[ "$f" = lzv ] || grep -q "lost: bytes [0-9]* to $fourth of the input" stderr
		grep -q "lost in 1 places" stderr
		cat p0 p1 >front
		cat p3 p4 >back
		head -c "$(stat -c %s front)" out | cmp - front
		tail -c "$(stat -c %s back)" out | cmp - back
		vdecompress --salvage -c packed | cmp - plain
		! vdecompress --salvage <hurt >again 2>stderr || false
		cmp out again
	done
}

@test "--salvage: a damaged magic number, a zeroed sector, noise, a cut" {
	members zstd
	hurt "$third" 4
	status_is 1 vdecompress --salvage -o out -f hurt
	grep -q "lost: bytes $third to $fourth of the input, behind $(cat p0 p1 | wc -c) of" stderr
	cat p0 p1 p3 p4 | cmp - out
	cp packed hurt
	dd if=/dev/zero of=hurt bs=1 seek="$third" count=64 conv=notrunc status=none
	status_is 1 vdecompress --salvage -o out -f hurt
	cat p0 p1 p3 p4 | cmp - out
	gen noise 3000 >hurt
	cat packed >>hurt
	status_is 1 vdecompress --salvage -o out -f hurt
	grep -q "lost: bytes 0 to 3000 of the input, behind 0 of output" stderr
	cmp out plain
	head -c -20 packed >hurt
	status_is 1 vdecompress --salvage -o out -f hurt
	head -c "$(stat -c %s out)" plain | cmp - out
	gen noise 3000 >hurt
	status_is 1 vdecompress --salvage -o out -f hurt
	[ ! -s out ]
	# padding is no damage
	cp packed hurt
	gen zero 1000 >>hurt
	vdecompress --salvage -c hurt | cmp - plain
}

@test "--salvage: blocks whose length is known cost themselves alone" {
	gen ndjson 500000 >plain
	vcompress -F lzv --block-size=64K <plain >plain.lzv
	vcompress -F zstd --seekable=64K <plain >plain.zst
	! command -v lz4 || lz4 -q -B4 -BX plain plain.lz4
	for f in plain.*; do
		cp "$f" packed
		for place in 3 5 8; do
			at=$(($(stat -c %s packed) * place / 10))
			hurt "$at" 4
			status_is 1 sh -c 'vdecompress --salvage --json -o out -f hurt >json'
			read -r from to before unchecked < <(sed \
				's/.*"lost":\[{"from":\([0-9]*\),"to":\([0-9]*\),"output":\([0-9]*\),"unchecked":\([0-9]*\).*/\1 \2 \3 \4/' json)
			[ "$from" -le "$at" ]
			[ "$to" -gt "$at" ]
			grep -q '"losses":1,' json
			grep -q '"ok":false' json
			# all in front of the block, and all behind it
			good=$((before - unchecked))
			[ $((good % 65536)) = 0 ]
			head -c "$good" out | cmp - <(head -c "$good" plain)
			tail -c +$((before + 1)) out | cmp - <(tail -c +$((good + 65536 + 1)) plain)
		done
	done
}

@test "--salvage: .lzv goes on at the next sync mark, first item or not" {
	gen noise 30M >plain
	vcompress -F lzv --block-size=1M <plain >packed
	size=$(stat -c %s packed)
	# across two records, so that no length leads on: 4 MiB to the next mark
	cp packed hurt
	dd if=/dev/zero of=hurt bs=1M seek=9 count=2 conv=notrunc status=none
	status_is 1 vdecompress --salvage -o out -f hurt
	grep -q 'lost in 2 places' stderr
	[ "$(stat -c %s out)" -ge 25000000 ]
	tail -c 15000000 plain | cmp - <(tail -c 15000000 out)
	head -c 8000000 plain | cmp - <(head -c 8000000 out)
	# the marks repeat a sum of the first item
	cp packed hurt
	dd if=/dev/zero of=hurt bs=1000 seek=2 count=100 conv=notrunc status=none
	cat packed >>hurt
	status_is 1 vdecompress --salvage -o out -f hurt
	[ "$(stat -c %s out)" = $((2 * 30 * 1048576 - 1048576)) ]
	tail -c 31457280 out | cmp - plain
	tail -c +1048577 plain | cmp - <(head -c $((29 * 1048576)) out)
	[ "$size" -gt 31457280 ]
}

@test "--salvage: a source is only deleted when nothing was lost" {
	members gzip
	hurt $((third + 30)) 4
	mv hurt a.gz
	status_is 1 vdecompress --salvage --rm --no-sync a.gz
	[ -e a.gz ]
	[ -s a ]
	mv packed b.gz
	vdecompress --salvage --rm --no-sync b.gz
	[ ! -e b.gz ]
	cmp b plain
}

@test "--salvage: not with what reads parts or passes things on" {
	members lzv
	status_is 1 vdecompress --salvage --record=1 packed
	status_is 1 vdecompress --salvage --pass-through packed
	grep -q 'whole packed inputs' stderr
	status_is 1 sh -c ': | vdecompress --salvage'
	grep -q 'empty input' stderr
}

@test "--salvage: cut and flipped everywhere, nothing worse than a loss" {
	for f in zstd lz4 gzip lzv xz bzip2; do
		has_codec "$f" || continue
		members "$f"
		# what a member gave before its end can't be checked: cuts are
		mangle -s $((31 * ${VOLTBOX_STRIDE:-1})) flip packed plain vdecompress --salvage
	done
}
