#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Every example of vprobe.1 runs.

load helper

material() {
	mkdir -p logs site
	gen ndjson 300K >access.log
	cp access.log logs/a.log
	gen text 20K >site/index.html
	gen mixed 400K >dump.tar
	gen noise 100K >photo.jpeg
	seq -f '%023g' 2000 >records.bin
}

@test "the examples of vprobe.1 run" {
	local line n=0
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/s/^\$ //p' "$root/man/vprobe.1" >lines
	while IFS= read -r line; do
		rm -rf box && mkdir box && cd box && material
		bash -eo pipefail -c "$line" >out 2>err </dev/null ||
			fail "$line: $(head -c 300 err)"
		[ -s out ] || [ -s err ] || [ -s access.log.zst ] || fail "$line: no word"
		cd ..
		n=$((n + 1))
	done <lines
	[ $n -ge 13 ]
}

# bats test_tags=quick
@test "what the examples claim is so" {
	material
	vprobe access.log >out
	grep -q '^access.log: JSON lines, ' out
	grep -q '^  verdict   compress: ' out
	status_is 3 vprobe -q photo.jpeg
	vprobe --json access.log | grep -q '"verdict":"compress"'
	vprobe --columns --width 24 --codecs=lz4 records.bin |
		grep -q '^records.bin: 48000 bytes, records of 24 bytes (as you say)$'
}
