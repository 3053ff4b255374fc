#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Records of an .lzv file: packed one by one, found again one by one.

load helper

# bats test_tags=quick
@test "vcompress --records packs records one by one, vdecompress --records gives them back" {
	gen ndjson 2M >text
	n=5000
	sed -n 1,${n}p text >ndjson
	vcompress -F lzv --records=lines <ndjson >a
	vdecompress -l --json <a | grep -q "\"blocks\":$n,"
	vdecompress --records=lines <a | cmp - ndjson
	# without their delimiters they are the content
	vdecompress <a | cmp - <(tr -d '\n' <ndjson)
	head -c -1 ndjson >open-end
	vcompress -F lzv --records=lines -T1 <open-end | vdecompress --records=lines | cmp - open-end
	tr '\n' '\0' <ndjson >nul
	vcompress -F lzv --records=nul <nul | vdecompress --records=nul | cmp - nul
	vcompress -F lzv --records=fixed:1 </dev/null | vdecompress --records=fixed:1 | cmp - /dev/null
	status_is 1 vcompress -F zstd --records=lines <ndjson
	status_is 1 vcompress -F lzv --records=len:u32le,lz4 <ndjson
	status_is 1 vcompress -F lzv --records=len:u32le,flag:u8 <ndjson
}

@test "records of made-up values in length-prefixed dumps" {
	needs python3
	needs_shared corpus
	for args in "record --size 512 --count 300" "varied --size 16384 --count 20" "mixed --size 4096 --count 100"; do
		# shellcheck disable=SC2086
		python3 "$shared/corpus/make_records.py" $args >dump
		vcompress -F lzv --records=len:u32le <dump >a
		vdecompress --records=len:u32le <a | cmp - dump
	done
}

# bats test_tags=quick
@test "--record reads one record of a file, with and without an index" {
	gen ndjson 3M >text
	n=8000
	sed -n 1,${n}p text >ndjson
	vcompress -F lzv --records=lines <ndjson >a
	cat a a >aa
	for i in 0 1 777 $((n - 1)); do
		sed -n "$((i + 1))p" ndjson | tr -d '\n' >want
		vdecompress --record=$i a | cmp - want
		# two streams have no index of the whole
		vdecompress --record=$i aa | cmp - want
		vdecompress --record=$((n + i)) aa | cmp - want
	done
	status_is 1 vdecompress --record="$n" a
	grep -q "has $n records" stderr
	status_is 1 vdecompress --record=0 --key=x a
	vdecompress --record=0 <a 2>stderr >out || grep -q 'regular' stderr
}

# part FILE OFFSET LENGTH
part() {
	dd if="$1" iflag=skip_bytes,count_bytes skip="$2" count="$3" status=none
}

# bats test_tags=quick
@test "--range reads decoded bytes, across records, transposed ones too" {
	gen mixed 5M >mixed
	vcompress -F lzv --block-size=64K <mixed >a
	vcompress -F lzv --block-size=10000 --transpose=7 <mixed >b
	cat a b >ab
	cat mixed mixed >two
	size=$(stat -c %s mixed)
	for r in 0:1 0:0 65535:2 1000000:200000 $((size - 5)):5; do
		part mixed "${r%:*}" "${r#*:}" >want
		vdecompress --range=$r a | cmp - want || fail "a $r"
		vdecompress --range=$r b | cmp - want || fail "b $r"
		vdecompress --range=$r ab | cmp - want || fail "ab $r"
	done
	part two $((size - 10)) 20 >want
	vdecompress --range=$((size - 10)):20 ab | cmp - want
	status_is 1 vdecompress --range=$((size - 1)):2 a
	status_is 1 vdecompress --range=12 a
}

@test "--range reads little of a large file" {
	gen mixed 200M | vcompress -F lzv -1 >a
	size=$(stat -c %s a)
	strace -f -e trace=read,pread64 -o trace vdecompress --range=150M:1000 a >out 2>/dev/null ||
		skip "strace doesn't work here"
	bytes=$(awk '/= [0-9]+$/ { s += $NF } END { print s }' trace)
	[ "$bytes" -lt $((size / 20)) ] || fail "read $bytes of $size bytes"
}

@test "a damaged record, index or footer is an error, never other bytes" {
	gen ndjson 100K >ndjson
	vcompress -F lzv --records=lines <ndjson >a
	vdecompress --record=500 a >want
	# shellcheck disable=SC2016
	read='cat >f.$$; vdecompress --record=500 f.$$; s=$?; rm f.$$; exit $s'
	mangle -s 401 flip a want sh -c "$read"
	mangle -s 401 cut a want sh -c "$read"
}

# bats test_tags=quick
@test "--key finds a record by its key, and keys go through a conversion" {
	for ((i = 0; i < 5000; i++)); do
		printf 'user:%d\t{"id":%d,"name":"somebody","again":"somebody","number":%d}\n' $i $i $((i * i))
	done >lines
	mkkeys <lines >a
	vconvert --to=lzvolt --recompress -o b a
	cat a b >ab
	for i in 0 17 4999; do
		sed -n "$((i + 1))s/^[^	]*	//p" lines | tr -d '\n' >want
		for f in a b ab; do
			vdecompress --key=user:$i $f | cmp - want || fail "$f $i"
		done
	done
	status_is 1 vdecompress --key=user:5000 a
	grep -q "no record has the key 'user:5000'" stderr
	status_is 1 vdecompress --key=user: ab
}
