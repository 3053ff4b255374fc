#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The usual tools read what we write and we read what they write: every level
# class, empty, 1 byte, 3 MiB, 200 MiB (or VOLTBOX_BIG), and members in a row.

load helper

make_inputs() {
	: >empty
	printf x >one
	gen mixed 3M >mixed
	inputs="empty one mixed"
}

# ours_read_by CODEC LEVEL PEER...: we pack, PEER unpacks
ours_read_by() {
	local codec=$1 level=$2 f
	shift 2
	for f in $inputs; do
		vcompress -F "$codec" ${level:+"$level"} <"$f" >packed
		"$@" <packed >back || fail "$codec $level: $* fails on $f"
		cmp "$f" back || fail "$codec $level: $* reads other bytes from $f"
	done
}

# we_read CODEC PEER...: PEER packs, we unpack
we_read() {
	local codec=$1 f
	shift
	for f in $inputs; do
		"$@" <"$f" >packed
		vdecompress -F "$codec" <packed >back || fail "$*: we fail on $f"
		cmp "$f" back || fail "$*: we read other bytes from $f"
	done
}

# in_a_row PEER-UNPACK WE-CODEC PEER-PACK: concatenations, both ways
in_a_row() {
	local unpack=$1 codec=$2 pack=$3
	cat one mixed empty one >original
	for f in one mixed empty one; do $pack <$f; done >packed
	vdecompress <packed >back || fail "members of $pack"
	cmp original back
	for f in one mixed empty one; do vcompress -F "$codec" <$f; done >packed
	$unpack <packed >back || fail "$unpack doesn't read our members"
	cmp original back
}

# bats test_tags=quick
@test "zstd" {
	needs zstd
	make_inputs
	for l in --fast=5 --fast -1 -3 -7 -12 -19; do
		ours_read_by zstd $l zstd -dcq
		we_read zstd zstd -cq $l
	done
	we_read zstd zstd -cq --ultra -22
	we_read zstd zstd -cq --no-check
	in_a_row "zstd -dcq" zstd "zstd -cq"
}

# bats test_tags=quick
@test "zstd --long, its dictionaries, and no check" {
	needs zstd
	gen mixed 3M >mixed
	vcompress -F zstd --long=27 <mixed | zstd -dcq --long=27 | cmp - mixed
	zstd -cq --long=27 <mixed | vdecompress | cmp - mixed
	vcompress -F zstd --no-check <mixed | zstd -dcq | cmp - mixed
	gen ndjson 200K >d
	gen ndjson 20K 2 >f
	vcompress -F zstd -D d <f | zstd -dcq -D d | cmp - f
	zstd -cq -D d <f | vdecompress -D d | cmp - f
}

# bats test_tags=quick
@test "lz4" {
	needs lz4
	make_inputs
	for l in -1 -3 -9 -12; do
		ours_read_by lz4 $l lz4 -dcq
		we_read lz4 lz4 -cq $l
	done
	for o in -B4 -B5 -B6 -B7 -BD -B4D -BX --no-frame-crc --content-size; do
		we_read lz4 lz4 -cq $o
	done
	in_a_row "lz4 -dcq" lz4 "lz4 -cq"
}

# bats test_tags=quick
@test "lz4 dictionaries" {
	needs lz4
	gen ndjson 60K >d
	gen ndjson 20K 2 >f
	vcompress -F lz4 -D d <f | lz4 -dcq -D d | cmp - f
	lz4 -cq -D d <f | vdecompress -D d | cmp - f
}

# bats test_tags=quick
@test "lz4-legacy" {
	needs lz4
	make_inputs
	inputs="one mixed"	# lz4 1.9.4 writes nothing for an empty input
	ours_read_by lz4-legacy "" lz4 -dcq
	we_read lz4-legacy lz4 -cql
}

# bats test_tags=quick
@test "gzip" {
	needs gzip
	make_inputs
	for l in -1 -3 -6 -9 -12; do
		ours_read_by gzip $l gzip -dc
	done
	for l in -1 -6 -9; do
		we_read gzip gzip -c $l
	done
	in_a_row "gzip -dc" gzip "gzip -c"
}

# bats test_tags=quick
@test "pigz: gzip and zlib" {
	needs pigz
	make_inputs
	for l in -1 -6 -9; do
		ours_read_by gzip $l pigz -dc
		we_read gzip pigz -c $l
		we_read gzip pigz -c -i $l
		we_read zlib pigz -zc $l
		ours_read_by zlib $l pigz -dc
	done
	in_a_row "pigz -dc" gzip "pigz -c"
}

# bats test_tags=quick
@test "igzip" {
	needs igzip
	make_inputs
	inputs="one mixed"
	for l in -1 -6 -12; do
		ours_read_by gzip $l igzip -dc
	done
	for l in -0 -1 -2 -3; do
		we_read gzip igzip -c $l
	done
}

# bats test_tags=quick
@test "brotli" {
	needs brotli
	needs_codec brotli
	make_inputs
	for l in -0 -1 -5 -9 -11; do	# brotli itself wants -q for 10 and 11
		[ "$l" != -11 ] || inputs="empty one"
		ours_read_by brotli $l brotli -dc
		we_read brotli brotli -c -q "${l#-}"
	done
	inputs=mixed
	we_read brotli brotli -c -q 4 --lgwin=10
	we_read brotli brotli -c -q 4 --large_window=26
}

@test "xz" {
	needs xz
	needs_codec xz
	make_inputs
	for l in -0 -6 -9; do
		ours_read_by xz $l xz -dc
		we_read xz xz -c $l
	done
	for o in --check=none --check=crc32 --check=sha256 -T2; do
		we_read xz xz -c -1 $o
	done
	in_a_row "xz -dc" xz "xz -1c"
}

@test "lzma alone" {
	needs xz
	needs_codec lzma
	make_inputs
	ours_read_by lzma "" xz -dc --format=lzma
	we_read lzma xz -c -1 --format=lzma
}

@test "lzip" {
	needs lzip
	needs_codec lzip
	make_inputs
	ours_read_by lzip "" lzip -dc
	we_read lzip lzip -c -1
	we_read lzip lzip -c -9
	in_a_row "lzip -dc" lzip "lzip -1c"
}

@test "bzip2" {
	needs bzip2
	needs_codec bzip2
	make_inputs
	for l in -1 -9; do
		ours_read_by bzip2 $l bzip2 -dc
		we_read bzip2 bzip2 -c $l
	done
	in_a_row "bzip2 -dc" bzip2 "bzip2 -c"
}

@test "compress" {
	needs compress
	needs_codec compress
	make_inputs
	inputs="one mixed"	# compress has no empty stream
	ours_read_by compress "" compress -dc
	we_read compress compress -fc
}

@test "lzop" {
	needs lzop
	needs_codec lzop
	make_inputs
	ours_read_by lzop "" lzop -dc
	for l in -1 -9; do we_read lzop lzop -c $l; done
}

@test "uu" {
	needs uuencode
	needs_codec uu
	make_inputs
	ours_read_by uu "" uudecode -o /dev/stdout
	we_read uu uuencode x
	we_read uu uuencode -m x
}

# big CODEC PACK UNPACK: 200 MiB both ways
big() {
	vcompress -F "$1" <big | $3 | cmp - big
	$2 <big | vdecompress -F "$1" | cmp - big
}

@test "200 MiB both ways with zstd, lz4, gzip, brotli" {
	needs zstd lz4 pigz brotli
	gen mixed "${VOLTBOX_BIG:-200M}" >big
	big zstd "zstd -cq -T0" "zstd -dcq"
	big lz4 "lz4 -cq" "lz4 -dcq"
	big gzip "pigz -1c" "gzip -dc"
	needs_codec brotli
	vcompress -F brotli -1 <big | brotli -dc | cmp - big
	brotli -1c <big | vdecompress -F brotli | cmp - big
}

@test "200 MiB both ways with xz and bzip2 at their fastest" {
	needs xz bzip2
	needs_codec xz bzip2
	gen mixed "${VOLTBOX_BIG:-200M}" >big
	vcompress -F xz -0 <big | xz -dc -T0 | cmp - big
	xz -0c -T0 <big | vdecompress | cmp - big
	vcompress -F bzip2 -1 <big | bzip2 -dc | cmp - big
}

@test "gzip: no file is 3 % larger than the peer of its level makes it" {
	needs gzip
	needs_shared corpus
	local f l ours theirs n=0
	for f in "$shared"/corpus/*/*; do
		[ "$(stat -c %s "$f")" -gt 4096 ] || continue
		for l in 4 6 9; do
			ours=$(vcompress -F gzip -$l -c "$f" | wc -c)
			theirs=$(gzip -$l -c "$f" | wc -c)
			[ $((ours * 100)) -le $((theirs * 103)) ] || fail "$f -$l: $ours, gzip $theirs"
			n=$((n + 1))
		done
		type igzip >/dev/null 2>&1 || continue
		ours=$(vcompress -F gzip -1 -c "$f" | wc -c)
		theirs=$(igzip -1 -c "$f" | wc -c)
		[ $((ours * 100)) -le $((theirs * 103)) ] || fail "$f -1: $ours, igzip $theirs"
	done
	[ "$n" -gt 60 ] || fail "only $n files and levels"
}
