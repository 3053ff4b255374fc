#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every codec gives back what it was given, and the same bytes for every -T.

load helper

# inputs: the shapes that trip coders up
make_inputs() {
	: >empty
	printf x >one
	gen text 70000 >text
	gen ndjson 3M >ndjson
	gen noise 300000 >noise
	gen zero 5M >zero
	gen mixed 9M >mixed
}

# round CODEC FILE [OPTION]...
round() {
	local codec=$1 file=$2 size
	shift 2
	size=$(stat -c %s "$file")
	vcompress -F "$codec" "$@" <"$file" >packed
	case $codec in
	lz4-block) vdecompress -F "$codec" --size="$size" <packed >back ;;
	*) vdecompress -F "$codec" <packed >back ;;
	esac
	cmp "$file" back || fail "$codec $*: $file"
}

round_all() {
	local f
	needs_codec "$1"
	make_inputs
	for f in empty one text ndjson noise zero mixed; do
		round "$1" "$f"
	done
}

# bats test_tags=quick
@test "zstd gives back every input" { round_all zstd; }
# bats test_tags=quick
@test "lz4 gives back every input" { round_all lz4; }
# bats test_tags=quick
@test "lz4-legacy gives back every input" { round_all lz4-legacy; }
# bats test_tags=quick
@test "gzip gives back every input" { round_all gzip; }
# bats test_tags=quick
@test "zlib gives back every input" { round_all zlib; }
# bats test_tags=quick
@test "deflate gives back every input" { round_all deflate; }
# bats test_tags=quick
@test "brotli gives back every input" { round_all brotli; }
# bats test_tags=quick
@test "lzv gives back every input" { round_all lzv; }
# bats test_tags=quick
@test "lz4-block gives back every input" { round_all lz4-block; }
# bats test_tags=quick
@test "raw gives back every input" { round_all raw; }
@test "xz gives back every input" { round_all xz; }
@test "lzma gives back every input" { round_all lzma; }
@test "lzip gives back every input" { round_all lzip; }
@test "bzip2 gives back every input" { round_all bzip2; }
@test "compress gives back every input" { round_all compress; }
@test "lzop gives back every input" { round_all lzop; }
@test "uu gives back every input" { round_all uu; }

# bats test_tags=quick
@test "lzvolt gives back every input that it takes" {
	make_inputs
	for f in text ndjson zero mixed; do
		round lzvolt "$f"
	done
}

# bats test_tags=quick
@test "the same bytes for every -T" {
	make_inputs
	for c in zstd lz4 gzip zlib deflate brotli lzv lz4-legacy; do
		has_codec "$c" || continue
		for f in empty one ndjson mixed; do
			vcompress -F "$c" -T1 <"$f" >t1
			for t in 2 3 7; do
				vcompress -F "$c" -T$t <"$f" >tn
				cmp t1 tn || fail "$c -T$t: $f"
			done
		done
	done
}

# bats test_tags=quick
@test "the same bytes whatever the pieces that the pipe hands out" {
	gen mixed 3000000 >in
	for c in zstd lz4 gzip brotli lzv; do
		has_codec "$c" || continue
		# a pipe, because the size of a file may stand in a header
		# shellcheck disable=SC2002
		cat in | vcompress -F "$c" >whole
		dribble -n 700 in vcompress -F "$c" >pieces
		cmp whole pieces || fail "$c"
	done
}
