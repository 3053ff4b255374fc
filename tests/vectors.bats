#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The shared golden vectors give what their manifest says: through a pipe, in
# crumbs of one byte, at every -T, with the format named and found.

load helper

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	needs_shared vectors
	vectors=$shared/vectors
}

# exception FILE: what our own rules want instead of the manifest's word
#	trailing	bytes behind the last member that aren't zeros are an error,
#			unless --trailing=ignore
#	error		a skippable frame that ends early is an error
#	any		either is right: liblz4 takes a block of which our decoder says
#			that an offset is wrong, with room to spare; liblzma knows no
#			sync markers in lzip; we decode windows that zstd wants asked for
exception() {
	case $1 in
	gzip/self__alice29.txt-trailing-garbage.gz | gzip/libarchive__test_compat_gzip_2.tgz | \
	bzip2/binwalk__bzip2.bin | lzip/xz__good-1-v1-trailing-1.lz) echo trailing ;;
	lz4/libarchive__test_read_filter_lz4_raw_skip) echo error ;;
	lz4-block/compress__convert-d087c493db7c4f23 | lzip/lzbench__test_sync.lz | \
	zstd/zstd-rs__window_256mib.zst) echo any ;;
	esac
}

# decode_once ROW-WORDS: runs "$@" and compares with $want_sha or an error
decode_once() {
	local got=0 sum
	"$@" >out 2>err || got=$?
	sum=$(sha <out)
	case $verdict in
	trailing) [ $got -eq 1 ] && [ "$sum" = "$want_sha" ] ;;
	ok) [ $got -eq 0 ] && [ "$sum" = "$want_sha" ] ;;
	error) [ $got -eq 1 ] && [ -s err ] ;;
	any) [ $got -le 1 ] ;;
	esac && return
	echo "$file: $* gave status $got, $(stat -c %s out) bytes: $(head -c 200 err)"
	bad=$((bad + 1))
}

# piped OPTION...: the decoder reads a pipe
# shellcheck disable=SC2002 # a pipe is the point
piped() { cat "$vectors/$file" | vdecompress "$@"; }
dribbled() { dribble "$vectors/$file" vdecompress "$@"; }

row_check() {
	local options=()
	case $dict in dict=*) options+=(-D "$vectors/${dict#dict=}") ;; esac
	case $codec in lz4-block) options+=(--size="${want_len:-65536}") ;; esac
	decode_once piped -F "$codec" -T1 "${options[@]}"
	decode_once piped -F "$codec" -T4 "${options[@]}"
	decode_once dribbled -F "$codec" -T2 "${options[@]}"
	case $codec in
	brotli | deflate | lz4-block) ;;	# nothing to find them by
	*) decode_once piped -T2 "${options[@]}" ;;
	esac
	if [ "$verdict" = trailing ]; then
		verdict=ok
		decode_once piped -F "$codec" --trailing=ignore
	fi
}

# all_rows CODEC: each row of the manifest
all_rows() {
	local codec file verdict want_sha want_len dict agree bad=0 rows=0 e
	needs_codec "$1"
	while IFS=$'\t' read -r file codec _ verdict dict _ agree _; do
		[ "$codec" = "$1" ] || continue
		read -r verdict want_sha want_len <<<"$verdict"
		[ "$agree" != differs ] || verdict=any
		e=$(exception "$file")
		verdict=${e:-$verdict}
		rows=$((rows + 1))
		row_check
	done <"$vectors/manifest.tsv"
	echo "$1: $rows rows, $bad wrong answers"
	[ $rows -gt 0 ] && [ $bad -eq 0 ]
}

# bats test_tags=quick
@test "vectors: brotli" { all_rows brotli; }
@test "vectors: bzip2" { all_rows bzip2; }
@test "vectors: compress" { all_rows compress; }
# bats test_tags=quick
@test "vectors: deflate" { all_rows deflate; }
# bats test_tags=quick
@test "vectors: gzip" { all_rows gzip; }
# bats test_tags=quick
@test "vectors: lz4" { all_rows lz4; }
# bats test_tags=quick
@test "vectors: lz4-block" { all_rows lz4-block; }
# bats test_tags=quick
@test "vectors: lz4-legacy" { all_rows lz4-legacy; }
@test "vectors: lzip" { all_rows lzip; }
@test "vectors: lzma" { all_rows lzma; }
@test "vectors: lzop" { all_rows lzop; }
@test "vectors: uu" { all_rows uu; }
@test "vectors: xz" { all_rows xz; }
# bats test_tags=quick
@test "vectors: zlib" { all_rows zlib; }
@test "vectors: zstd" { all_rows zstd; }

# unhex TEXT: "61 62*3 -": pairs of hex digits, each with an optional count
unhex() {
	local word unit count i
	for word in $1; do
		unit=${word%%\**}
		count=1
		[ "$unit" = "$word" ] || count=${word#*\*}
		[ "$unit" != - ] || continue
		# shellcheck disable=SC2001 # every pair of digits
		unit=$(sed 's/../\\x&/g' <<<"$unit")
		for ((i = 0; i < count; i++)); do
			printf '%b' "$unit"
		done
	done
}

# bats test_tags=quick
@test "vectors: lzvolt values" {
	local name value verdict decoded want_sha rows=0 got
	while IFS=$'\t' read -r name value verdict decoded want_sha; do
		case $name in '#'*) continue ;; esac
		rows=$((rows + 1))
		unhex "$value" >value
		got=0
		vdecompress -F lzvolt <value >out 2>err || got=$?
		if [ "$verdict" = ok ]; then
			[ $got -eq 0 ] || fail "$name: $(cat err)"
			[ "$(sha <out)" = "$want_sha" ] || fail "$name: other bytes than $decoded"
		else
			[ $got -eq 1 ] || fail "$name: status $got, not an error"
		fi
	done <"$vectors/lzvolt/vectors.tsv"
	[ $rows -gt 10 ]
}

# pack_plain CODEC: the originals there and back at two -T
pack_plain() {
	local f t
	needs_codec "$1"
	for f in "$vectors"/plain/*; do
		for t in 1 4; do
			vcompress -F "$1" -T$t <"$f" >packed
			vdecompress -F "$1" -T$t --size="$(stat -c %s "$f")" <packed >back ||
				fail "$1: $f doesn't unpack"
			cmp "$f" back || fail "$1: $f"
		done
	done
}

@test "originals there and back: zstd, lz4, lz4-legacy, lzv" {
	for c in zstd lz4 lz4-legacy lzv; do pack_plain $c; done
}
@test "originals there and back: gzip, zlib, deflate, brotli" {
	for c in gzip zlib deflate brotli; do pack_plain $c; done
}
@test "originals there and back: xz, lzma, lzip, bzip2" {
	for c in xz lzma lzip bzip2; do pack_plain $c; done
}
