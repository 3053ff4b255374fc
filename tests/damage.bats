#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A packed stream cut short at every byte, and with a bit turned over in every
# byte: never status 0 with wrong output, never a crash, never a partial file.
# VOLTBOX_STRIDE=N tries every N-th place only (builds with sanitizers are slow).

load helper

export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	gen ndjson 900 >plain
	gen noise 200 >>plain
	gen zero 500 >>plain
	stride=${VOLTBOX_STRIDE:-1}
}

# damage CODEC SUFFIX [MANGLE-OPTION]...: by standard input and by file
damage() {
	local codec=$1 suffix=$2
	shift 2
	needs_codec "$codec"
	vcompress -F "$codec" <plain >packed
	damage_packed "$codec" "$suffix" "$@"
}

damage_packed() {
	local codec=$1 suffix=$2 size=()
	shift 2
	[ "$codec" != lz4-block ] || size=(--size="$(stat -c %s plain)")
	mangle -s "$stride" "$@" cut packed plain vdecompress -F "$codec" "${size[@]}"
	mangle -s "$stride" "$@" flip packed plain vdecompress -F "$codec" "${size[@]}"
	mangle -s $((3 * stride)) -f "$suffix" "$@" cut packed plain \
		vdecompress -q -F "$codec" "${size[@]}"
	mangle -s $((3 * stride)) -f "$suffix" "$@" flip packed plain \
		vdecompress -q -F "$codec" "${size[@]}"
}

# formats with a check over their content
@test "damage: zstd" { damage zstd .zst; }
@test "damage: lz4" { damage lz4 .lz4; }
@test "damage: gzip" { damage gzip .gz; }
@test "damage: zlib" { damage zlib .zz; }
@test "damage: lzv" { damage lzv .lzv; }
@test "damage: xz" { damage xz .xz; }
@test "damage: lzip" { damage lzip .lz; }
@test "damage: bzip2" { damage bzip2 .bz2; }
@test "damage: lzop" { damage lzop .lzo; }

# formats without: a flip may go unseen, all else holds
@test "damage: lz4-legacy" { damage lz4-legacy .lz4 -u -e; }
@test "damage: deflate" { damage deflate .deflate -u; }
@test "damage: brotli" { damage brotli .br -u; }
@test "damage: lzma" { damage lzma .lzma -u; }
@test "damage: lzvolt" { damage lzvolt .lzvolt -u; }
@test "damage: lz4-block" { damage lz4-block .lz4b -u; }

@test "damage: lz4 with linked blocks and block checks" {
	needs lz4
	lz4 -cq -B4 -BD -BX <plain >packed
	damage_packed lz4 .lz4
}

@test "damage: zstd with three members, the last one found behind two" {
	for i in 1 2 3; do vcompress -F zstd <plain; done >packed
	cat plain plain plain >three
	# a cut between members is a shorter stream, not a broken one
	one=$(($(stat -c %s packed) / 3))
	for i in $((one - 1)) $((one + 1)) $((2 * one - 1)) $((3 * one - 1)); do
		head -c $i packed >part
		status_is 1 vdecompress -c part
	done
	mangle -s $((7 * stride)) flip packed three vdecompress
}

@test "damage: a threaded unpack of larger streams" {
	gen mixed 600000 >plain
	for c in lz4 lzv zstd gzip; do
		vcompress -F $c -T4 <plain >packed
		n=$(stat -c %s packed)
		mangle -s $((n * stride / 60)) cut packed plain vdecompress -T4
		mangle -s $((n * stride / 60)) flip packed plain vdecompress -T4
	done
}
