#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every command of lzvolt-migration(7) and vconvert(1)'s examples is run, in order:
# "$" must succeed, "%" must fail and say what the next line says.  Spark's example,
# in an unfilled display, is run by tests/long/spark.bats.

load helper

# commands PAGE: its lines "$ command", "% command" and what follows a "%"
commands() {
	awk '/^\.Ed/ { in_text = 0 } in_text && (/^[$%] / || after) { print }
		{ after = in_text && /^% / } /^\.Bd -literal/ { in_text = 1; after = 0 }' "$1"
}

# all_ran PAGE: no line that looks like a command stands where commands() doesn't look
all_ran() {
	[ "$ran" -eq "$(awk '/^\.Ed/ { raw = 0 } /^\.Bd -unfilled/ { raw = 1 } !raw' "$1" |
		grep -c '^[$%] ')" ] || fail "only $ran commands were run"
}

# run_page PAGE: runs them in the current folder; sets ran
run_page() {
	local line
	ran=0
	while IFS= read -r line; do
		case $line in
		'$ '*)
			bash -eo pipefail -c "${line#??}" >out 2>err </dev/null ||
				fail "fails: $line: $(head -c 500 err)" || return
			ran=$((ran + 1))
			;;
		'% '*)
			if bash -o pipefail -c "${line#??}" >out 2>err </dev/null; then
				fail "succeeds: $line"
				return
			fi
			ran=$((ran + 1))
			;;
		*) grep -qF -- "$line" err || fail "says otherwise: $(cat err)" || return ;;
		esac
	done < <(commands "$1")
}

@test "the commands of lzvolt-migration(7) do what the page says" {
	gen ndjson 3M >raw.bin
	gen noise 400K >>raw.bin
	vcompress -F lzv --records=fixed:4096 < <(head -c $((4096 * 800)) raw.bin) |
		vconvert --to=lz4 --recompress --into=len:u32le,flag:u8,size:u32le \
			--flag=raw=0,lz4=1,lzvolt=2 >store.dump
	run_page "$root/man/lzvolt-migration.7"
	[ "$ran" -ge 20 ]
	all_ran "$root/man/lzvolt-migration.7"
}

@test "the examples of vconvert(1) run" {
	needs lz4 parallel cpio zip
	gen mixed 3M >mixed
	tar -cf backup.tar mixed
	echo mixed | cpio -o -H newc >backup.cpio 2>/dev/null
	zip -q backup.zip mixed
	lz4 -q -B4 -BX <mixed >image.lz4
	lz4 -q -l <mixed >initrd.lz4
	mkrecords sized 4096 <mixed >values.dump
	mkrecords sized 0 <mixed | tail -c +5 >value.lz4
	mkrecords mozlz4 0 <mixed >session.jsonlz4
	mkrecords rocksdb 0 <mixed >block.rocksdb
	mkrecords zfs 131072 <mixed >blocks.zfs
	mkrecords hadoop2 262144 <mixed >part-00000.lz4
	mkrecords java 65536 <mixed >data.lz4b
	gen ndjson 1M >messages.ndjson
	gen text 51200 >slots
	vcompress -F lzv --block-size=64K <mixed >store.lzv
	vconvert --from=len:u32le,size:u32le,lz4 --into=len:u32le,flag:u8,size:u32le \
		--flag=raw=0,lz4=1,lzvolt=2 --to=lz4 <values.dump >store.dump
	export HOME=$PWD
	mkdir .parallel && touch .parallel/will-cite
	run_page "$root/man/vconvert.1"
	[ "$ran" -ge 20 ]
	all_ran "$root/man/vconvert.1"
	cmp session.json mixed
	vdecompress <rolled-back.lzv | cmp - mixed
	[ "$(vdecompress -l --json <blocks.lzv | sed 's/.*"blocks":\([0-9]*\).*/\1/')" -eq 24 ]
}
