#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# vconvert --resume, and what an operator meets beside it.

load helper

@test "--resume: killed again and again, it ends with the bytes of an undisturbed run" {
	gen mixed 150M | vcompress -F lzv --block-size=64K -1 >store
	vconvert --to=lz4 --recompress -o want store
	n=0
	while [ ! -e out ]; do
		vconvert --to=lz4 --recompress --resume=journal -o out store &
		sleep 0.$((RANDOM % 4 + 1))
		kill -9 $! 2>/dev/null || :
		wait $! 2>/dev/null || :
		n=$((n + 1))
		[ $n -lt 60 ] || break
	done
	# killed with its output named and the journal not yet deleted: once more
	[ -e out ] && [ ! -e journal ] ||
		vconvert --to=lz4 --recompress --resume=journal -o out store
	cmp want out
	[ ! -e journal ]
	[ ! -e out.part ]
	echo "# killed $n times" >&3
}

@test "--resume refuses the journal of another job" {
	gen mixed 60M | vcompress -F lzv --block-size=64K -1 >whole
	head -c -1000 whole >store
	cp store store2
	# an input that is cut leaves the journal, as a kill does
	status_is 1 vconvert --to=lz4 --recompress --resume=journal -o out store
	[ -e journal ]
	status_is 1 vconvert --to=raw --resume=journal -o out store
	grep -q 'another job' stderr
	touch -d '2001-01-01' store2
	status_is 1 vconvert --to=lz4 --recompress --resume=journal -o out store2
	grep -q 'another job' stderr
}

@test "--resume: killed in a dump with damaged records, same bytes and same failures" {
	local f=len:u32le,size:u32le,lz4 n=0 status=0 at
	gen mixed 120M | vconvert --from=fixed:65536,raw --into=$f --to=lz4 >store
	vconvert --from=$f --into=lzv --to=lz4 --report=all --report-records <store >/dev/null
	# the first token of three records gets an offset of zero
	while read -r at; do
		printf '\0\0\0\0' | dd of=store bs=1 seek=$((at + 8)) conv=notrunc status=none
	done < <(sed -n '100p;900p;1900p' all | sed 's/.*"offset":\([0-9]*\),.*/\1/')
	convert() {
		vconvert --from=$f --into=len:u32le,flag:u8,size:u32le --flag=raw=0,lz4=1,lzvolt=2 \
			--to=lzvolt --on-error=skip "$@" store
	}
	convert -o want --report=want.json 2>/dev/null && fail "no record failed"
	while [ $n -lt 60 ]; do
		n=$((n + 1))
		convert --resume=journal -o out --report=got.json 2>/dev/null &
		sleep 0.$((RANDOM % 5 + 1))
		kill -9 $! 2>/dev/null || :
		wait $! 2>/dev/null || :
		[ ! -e out ] || break
	done
	[ -e out ] || convert --resume=journal -o out --report=got.json || status=$?
	cmp want out
	grep -q '"failed":3,' want.json
	[ "$(grep -o '"failed":[0-9]*' want.json)" = "$(grep -o '"failed":[0-9]*' got.json)" ]
}

# bats test_tags=quick
@test "--resume overwrites nobody's file and not its input" {
	gen mixed 2M | vcompress -F lzv --block-size=64K -1 >store
	cp store kept
	echo precious >out
	status_is 1 vconvert --to=lz4 --resume=journal -o out store
	grep -q 'not overwritten' stderr
	[ "$(cat out)" = precious ]
	[ ! -e journal ]
	status_is 1 vconvert --to=lz4 -f --resume=journal -o store store
	grep -q 'both input and output' stderr
	cmp store kept
	vconvert --to=lz4 -f --resume=journal -o out store
	vdecompress -t out
}

# bats test_tags=quick
@test "--resume: two runs of one job don't write into each other" {
	needs flock
	gen mixed 2M | vcompress -F lzv --block-size=64K -1 >store
	: >out.part
	status_is 1 flock out.part vconvert --to=lz4 --resume=journal -o out store
	grep -q 'another run' stderr
	vconvert --to=lz4 --resume=journal -o out store
	vdecompress -t out
}

@test "--resume: the journal names all that decides over the bytes, the report what was done before" {
	gen mixed 60M | vcompress -F lzv --block-size=64K -1 >whole
	head -c -1000 whole >store
	status_is 1 vconvert --to=lzvolt --recompress --resume=journal -o out store
	cp journal before
	for o in --favor=speed -1 --exact --no-check --on-error=skip --mode=retoken; do
		status_is 1 vconvert --to=lzvolt --recompress $o --resume=journal -o out store
		grep -q 'another job' stderr || fail "$o"
	done
	cmp before journal
	status_is 1 vconvert --to=lzvolt --recompress --resume=journal --report=report -o out store
	[ "$(sed 's/.*"records_before":\([0-9]*\),.*/\1/' report)" -gt 0 ]
}

# bats test_tags=quick
@test "a report that can't be written is an error, and never stands among the records" {
	gen mixed 100K | vcompress -F lzv --block-size=64K -1 >store
	status_is 1 vconvert --to=lz4 --report=/dev/full -o out store
	grep -q '/dev/full' stderr
	for o in "-c store" "-o - store" ""; do
		# shellcheck disable=SC2086
		status_is 1 vconvert --to=lz4 --report=- $o <store
		grep -q 'has the records' stderr
	done
	vconvert --to=lz4 --report=- --dry-run store 2>/dev/null | grep -q '"dry_run":true'
	vconvert --to=lz4 --report=- -o new store | grep -q '"ok":true'
	status_is 1 sh -c 'vconvert --to=lz4 --report=- -o new2 store >/dev/full'
}
