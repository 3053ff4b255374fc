#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# vconvert: what was stored comes back, and nothing is guessed.

# shellcheck disable=SC2012,SC2143
load helper

values="raw=0x52,lz4=0x34,lzvolt=0x56"

# framing_of NAME: what mkrecords calls NAME, in vconvert's words
framing_of() {
	case $1 in
	plain) echo len:u32le,size:max=4M,lz4 ;;
	sized) echo len:u32le,size:u32le,lz4 ;;
	flag) echo len:u32le,flag:u8,size:u32le ;;
	varint) echo len:varint,size:varint,lz4 ;;
	java) echo lz4-java ;;
	hadoop2) echo hadoop ;;
	*) echo "$1" ;;
	esac
}

make_inputs() {
	gen text 300000 >text
	gen mixed 2M >mixed
	gen noise 100000 >noise
	cat text noise mixed >all
}

# there_and_back NAME SIZE LEVEL FILE: exact both ways, content by vdecompress
there_and_back() {
	local f
	f=$(framing_of "$1")
	mkrecords "$1" "$2" "$3" <"$4" >stored
	vconvert --from="$f" --flag="$values" --into=lzv --to=lzvolt --exact \
		<stored >there || fail "$*: there"
	vdecompress <there | cmp - "$4" || fail "$*: content"
	vconvert --to=lz4 --into="$f" --flag="$values" <there >back || fail "$*: back"
	cmp stored back || fail "$*: not the same bytes"
}

# bats test_tags=quick
@test "every framing gives its bytes back, exact, for liblz4 fast, default, HC" {
	local name
	make_inputs
	for name in plain sized varint zfs hadoop hadoop2 java flag; do
		there_and_back "$name" 4096 0 text
		there_and_back "$name" 65536 9 all
		there_and_back "$name" 512 -5 noise
	done
}

@test "whole-file framings give their bytes back" {
	make_inputs
	for name in lz4_flex rocksdb mozlz4; do
		case $name in
		lz4_flex) mkrecords sized 0 <mixed | tail -c +5 >stored ;;
		*) mkrecords "$name" 0 <mixed >stored ;;
		esac
		vconvert --from="$name" --to=lzvolt --exact <stored >there
		vdecompress <there | cmp - mixed
		vconvert --to=lz4 --into="$name" <there | cmp - stored
	done
}

# bats test_tags=quick
@test "lz4 frames and legacy files come back whole: descriptors, checksums, skippable frames" {
	needs lz4
	make_inputs
	for o in -1 -9 "-B4 -BX" "-12 --content-size" -l "-B5 --no-frame-crc" "-9 -BD"; do
		# shellcheck disable=SC2086
		lz4 -q -c $o <all >stored
		vconvert --to=lzvolt --exact <stored >there
		vconvert --to=lz4 --into=lz4-frame <there | cmp - stored || fail "$o"
	done
	{ printf '\x53\x2a\x4d\x18\x05\0\0\0hello'; lz4 -q -c <text; lz4 -q -c -l <noise
	  printf '\x50\x2a\x4d\x18\0\0\0\0'; lz4 -q -c </dev/null; } >stored
	vconvert --to=lzvolt --exact <stored >there
	vconvert --to=lz4 --into=lz4-frame <there | cmp - stored
}

@test "repacked frames roll back to frames that lz4 accepts, same content" {
	needs lz4
	make_inputs
	lz4 -q -c -B4 -BX <all >stored
	vconvert --to=lzvolt -1 <stored >there
	[ "$(stat -c %s there)" -lt "$(stat -c %s stored)" ]
	vdecompress <there | cmp - all
	vconvert --to=lz4 --into=lz4-frame <there >back
	lz4 -q -d -c <back | cmp - all
}

@test "the stored LZ4 frames of other encoders come back bit for bit" {
	needs_shared vectors
	local n=0 f
	for f in "$shared"/vectors/lz4/* "$shared"/vectors/lz4-legacy/*; do
		vconvert --to=lzvolt --exact <"$f" >there 2>/dev/null || continue
		vconvert --to=lz4 --into=lz4-frame <there | cmp - "$f" || fail "$f"
		n=$((n + 1))
	done
	[ "$n" -ge 18 ] || fail "only $n files went through"
}

@test "the stored LZ4 blocks of other encoders come back bit for bit" {
	needs_shared vectors
	local n=0 f name expectation
	while IFS=$'\t' read -r f _ _ expectation _; do
		case $f in lz4-block/*) ;; *) continue ;; esac
		case $expectation in ok*) ;; *) continue ;; esac
		# a zero offset, which no decoder of ours takes
		case $f in *d087c493db7c4f23) continue ;; esac
		name=$shared/vectors/$f
		vconvert --from=whole,size:max="${expectation##* }",lz4 --to=lzvolt --mode=retoken \
			<"$name" >there || fail "$f"
		vconvert --to=lz4 --into=whole,size:max=1M,lz4 <there >back 2>/dev/null ||
			vconvert --to=lz4 --into=len:u32le,flag:u8,size:u32le --flag=$values <there |
			tail -c +10 >back
		cmp back "$name" || fail "$f"
		n=$((n + 1))
	done <"$shared/vectors/manifest.tsv"
	[ "$n" -ge 8 ] || fail "only $n blocks"
}

# bats test_tags=quick
@test "stored bytes of lz4_flex, pierrec/lz4 and python-lz4 come back, by sha256" {
	local peer framing sum bytes n=0
	gen ndjson 4K >plain
	while IFS=$'\t' read -r peer framing sum bytes; do
		case $peer in '#'*) continue ;; esac
		base64 -d <<<"$bytes" >stored
		[ "$(sha <stored)" = "$sum" ]
		vconvert --from="$framing" --into=lzv --to=lzvolt --exact <stored >there
		# the records of a frame with linked blocks are the frame itself
		[ "$framing" = lz4-frame ] || vdecompress <there | cmp - plain || fail "$peer: content"
		[ "$(vconvert --to=lz4 --into="$framing" <there | sha)" = "$sum" ] ||
			fail "$peer $framing: other bytes"
		n=$((n + 1))
	done <"$root/tests/convert/peers.tsv"
	[ "$n" -eq 9 ]
}

# bats test_tags=quick
@test "the same bytes for every -T and however the input comes" {
	make_inputs
	mkrecords flag 1000 <all >stored
	f=$(framing_of flag)
	vconvert --from="$f" --flag=$values --into=lzv --to=lzvolt -T1 <stored >one
	for t in 2 3 8; do
		vconvert --from="$f" --flag=$values --into=lzv --to=lzvolt -T$t <stored | cmp - one
	done
	dribble -n 77 stored vconvert --from="$f" --flag=$values --into=lzv --to=lzvolt | cmp - one
}

# bats test_tags=quick
@test "every framing is cut alike when its bytes come one by one" {
	needs lz4
	gen text 20000 >text
	gen noise 3000 >noise
	cat text noise >all
	for name in plain sized varint zfs hadoop hadoop2 java flag; do
		mkrecords $name 700 0 <all >"$name"
	done
	lz4 -qc -B4 -BX all >lz4-frame
	{ printf '\x53\x2a\x4d\x18\x00\x02\0\0'; head -c 512 noise; lz4 -qc text; lz4 -qc -l noise
	  printf '\x50\x2a\x4d\x18\0\0\0\0'; } >lz4-legacy
	printf '%s\n' a b "" c >lines
	printf '%s\0' a b "" c >nul
	head -c 4000 text >fixed:500
	cp text whole
	tar -cf tar all text
	for name in plain sized varint zfs hadoop hadoop2 java flag lz4-frame lz4-legacy lines nul \
		fixed:500 whole tar; do
		f=$(framing_of "$name")
		case $name in lines | nul | fixed:* | whole | tar) f=$f,raw ;; lz4-legacy) f=lz4-frame ;; esac
		[ $name != tar ] || f=tar
		vconvert --from="$f" --flag=$values --into=lzv --to=lzvolt <"$name" >want ||
			fail "$name"
		dribble "$name" vconvert --from="$f" --flag=$values --into=lzv --to=lzvolt |
			cmp - want || fail "$name"
	done
}

@test "flags are carried: raw stays raw, what doesn't save an eighth becomes raw" {
	gen noise 40000 >noise
	gen text 40000 >text
	cat text noise >all
	mkrecords flag 10000 <all >stored
	vconvert --from="$(framing_of flag)" --flag=$values --to=lzvolt --report=report \
		--report-records <stored >there
	# records 2 and 5 came raw; 4, 6, 7 are noise in LZ4
	[ "$(grep -c '"from":"raw","to":"raw","outcome":"carried"' report)" -eq 2 ]
	[ "$(grep -c '"from":"lz4","to":"raw","outcome":"raw"' report)" -eq 3 ]
	[ "$(grep -c '"from":"lz4","to":"lzvolt","outcome":"converted"' report)" -eq 3 ]
	grep -q '"records":8,' report
	vconvert --from="$(framing_of flag)" --flag=$values --into=lzv --to=raw <there |
		vdecompress | cmp - all
}

# bats test_tags=quick
@test "nothing is guessed: without a flag or a word it refuses, and names the rule" {
	gen text 5000 >text
	mkrecords sized 1000 <text >stored
	status_is 1 vconvert --from=len:u32le --to=lzvolt <stored
	grep -q 'rule 3' stderr
	status_is 1 vconvert --from=len:u32le,size:u32le,lz4 --into=len:u32le --to=lzvolt <stored
	grep -q 'rule 3' stderr
	status_is 1 vconvert --into=lz4-frame --to=lzvolt <stored
	status_is 1 vconvert --to=lzvolt <stored
	grep -q -e '--from' stderr
	status_is 1 vconvert --from=len:u32le,lz4 --to=lzvolt <stored
	grep -q 'decoded size' stderr
	status_is 1 vconvert --from=len:u32le,flag:u8 --to=lzvolt <stored
	grep -q -e '--flag' stderr
	# the caller's word is enough
	vconvert --from=len:u32le,size:u32le --assume=lz4 --into=lzv --to=lzvolt <stored |
		vdecompress | cmp - text
	# one encoding for all: every record has it, or it is an error
	vconvert --from=len:u32le,size:u32le,lz4 --into=len:u32le,lzvolt --to=lzvolt <stored >there
	vconvert --from=len:u32le,lzvolt --into=len:u32le,size:u32le,lz4 --to=lz4 <there >back
	vconvert --from=len:u32le,size:u32le,lz4 --to=raw --into=lzv <back | vdecompress | cmp - text
}

# bats test_tags=quick
@test "a record that fails: stop, keep or skip, named by number and offset" {
	gen text 50000 >text
	mkrecords sized 10000 <text >stored
	# record 2's first offset bytes become zeros
	vconvert --from=len:u32le,size:u32le,lz4 --to=lzvolt --report=ok --report-records <stored >/dev/null
	at=$(sed -n 3p ok | sed 's/.*"offset":\([0-9]*\),.*/\1/')
	{ head -c $((at + 8)) stored; head -c 40 /dev/zero; tail -c +$((at + 49)) stored; } >bad
	from=len:u32le,size:u32le,lz4
	status_is 1 vconvert --from=$from --into=lzv --to=lzvolt <bad
	grep -q "record 2: .*(offset $at)" stderr
	vconvert --from=$from --into=lzv --to=lzvolt --on-error=skip --report=r <bad >skipped 2>err && fail status
	grep -q 'record 2' err
	grep -q '"failed":1,"skipped":1' r
	{ head -c 20000 text; tail -c +30001 text; } >want
	vdecompress <skipped | cmp - want
	vconvert --from=$from --into=len:u32le,flag:u8,size:u32le --flag=$values \
		--to=lzvolt --on-error=keep <bad >kept 2>err && fail status
	vconvert --from=len:u32le,flag:u8,size:u32le --flag=$values --into=lzv --to=raw \
		--on-error=skip <kept >skipped 2>err && fail status
	vdecompress <skipped | cmp - want
}

# bats test_tags=quick
@test "hostile lengths and sizes: an error with an offset, no memory" {
	printf '\377\377\377\377' | status_is 1 vconvert -M 64M --from=len:u32le,raw --into=lzv --to=lzvolt
	grep -q 'above the limit' stderr
	printf '\377\377\377\377\377\377\377\377\177' | status_is 1 vconvert --from=len:varint,raw --into=lzv --to=lzvolt
	printf '\200\200\200\200\200\200\200\200\200\200\1' | status_is 1 vconvert --from=len:varint,raw --into=lzv --to=lzvolt
	printf '\12\0\0\0abc' | status_is 1 vconvert --from=len:u32le,raw --into=lzv --to=lzvolt
	grep -q 'offset 7' stderr
	printf '\10\0\0\0\377\377\377\77abcd' | status_is 1 vconvert -M 64M --from=len:u32le,size:u32le,lz4 --into=lzv --to=lzvolt
	printf '\2\0\0\0ab' | status_is 1 vconvert --from=len:u32le,size:u32le,lz4 --into=lzv --to=lzvolt
	grep -q 'too short' stderr
	printf '\5\0\0\0\7abcd' | status_is 1 vconvert --from=len:u32le,flag:u8,size:u32le --flag=$values --into=lzv --to=lzvolt
	grep -q 'flag 7' stderr
}

@test "every cut of a stored file is an error, or a whole number of records" {
	gen text 3000 >text
	mkrecords sized 700 <text >stored
	size=$(stat -c %s stored)
	good=0
	for ((i = 1; i < size; i += 3)); do
		if head -c $i stored | vconvert --from=len:u32le,size:u32le,lz4 --into=lzv --to=raw >out 2>/dev/null; then
			good=$((good + 1))
			vdecompress <out | cmp -n "$(vdecompress <out | wc -c)" - text
		fi
	done
	[ $good -le 4 ]
}

@test "lines, NUL and slots: content and shape come back" {
	printf 'a\nbb\n\nccc\n' >l1
	printf 'a\nbb\nlast' >l2
	: >l3
	printf '\n' >l4
	for f in l1 l2 l3 l4; do
		vconvert --from=lines,raw --into=lzv --to=lzvolt <$f >there
		vconvert --into=lines,raw --to=raw <there | cmp - $f || fail $f
	done
	tr '\n' '\0' <l1 >n1
	vconvert --from=nul,raw --into=lzv --to=lzvolt --recompress <n1 >there
	vconvert --into=nul,raw --to=raw <there | cmp - n1
	gen text 8192 >text
	vconvert --from=fixed:512,raw --into=lzv --to=lzvolt --recompress <text >there
	vdecompress -l --json <there | grep -q '"blocks":16'
	vconvert --into=fixed:512,raw --to=raw <there | cmp - text
	head -c 8000 text | status_is 1 vconvert --from=fixed:512,raw --into=lzv --to=lzvolt
	printf 'x\ny' | vconvert --from=whole,raw --into=lzv --to=lzvolt >there
	status_is 1 vconvert --into=lines,raw --to=raw <there
	grep -q 'holds the delimiter' stderr
}

# bats test_tags=quick
@test "files are converted in place, whole or not at all" {
	make_inputs
	mkrecords flag 4096 <text >a
	cp a orig
	chmod 640 a
	vconvert --from="$(framing_of flag)" --flag=$values --to=lzvolt a
	cmp -s a orig && fail "nothing changed"
	[ "$(stat -c %a a)" = 640 ]
	vconvert --from="$(framing_of flag)" --flag=$values --into=lzv --to=raw -c a | vdecompress | cmp - text
	head -c 10000 orig >b
	cp b b.orig
	status_is 1 vconvert --from="$(framing_of flag)" --flag=$values --to=lzvolt b
	cmp b b.orig
	[ "$(echo b*)" = "b b.orig" ]
	status_is 1 vconvert --to=lzvolt missing
}

@test "--dry-run writes nothing and measures both ways" {
	make_inputs
	mkrecords sized 4096 <text >a
	cp a orig
	vconvert --from=len:u32le,size:u32le,lz4 --to=lzvolt --dry-run --report=r a 2>err
	cmp a orig
	grep -q 'forward: .* MB/s' err
	grep -q 'back: .* MB/s' err
	grep -q '"dry_run":true,"records":74,' r
}

@test "keys and notes go through from .lzv to .lzv" {
	make_inputs
	lz4 -q -c -B4 <text >stored
	vconvert --to=lzvolt --exact <stored >there
	vconvert --to=raw <there >raw
	vconvert --to=lz4 --recompress <raw >again
	vconvert --to=lz4 --into=lz4-frame <again >frame
	lz4 -d -q -c <frame | cmp - text
}

# the parts of $1 in n parts, side by side, hold what the whole holds
parts_are_whole() {
	local i n
	vdecompress <"$1" >plain
	for n in 1 2 3 7 40; do
		: >parts
		for ((i = 1; i <= n; i++)); do
			vconvert --to=lz4 --shard=$i/$n -c "$1" >part || fail "$1 $i/$n"
			vdecompress -t part || fail "$1 $i/$n is no whole stream"
			cat part >>parts
		done
		vdecompress <parts | cmp - plain || fail "$1 in $n parts"
	done
}

@test "--shard: the parts are whole streams and together all records, by index and by marks" {
	gen mixed 20M >mixed
	vcompress -F lzv --block-size=64K <mixed >a
	parts_are_whole a
	# streams behind one another have no index of the whole: marks
	vcompress -F lzv --block-size=8K --transpose=4 <mixed >b
	cat a b >ab
	parts_are_whole ab
	status_is 1 vconvert --to=lz4 --shard=3/2 -c a
	status_is 1 vconvert --to=lz4 --shard=1/2 a
}

@test "a sync mark inside a record isn't taken for one of the file's" {
	gen noise 9M >noise
	vcompress -F lzv --block-size=64K <noise >inner
	# the inner stream is stored as raw records of the outer one
	vcompress -F lzv --block-size=1M <inner >outer
	cat outer outer >two
	parts_are_whole two
}

@test "GNU parallel converts a file part by part" {
	needs parallel
	gen mixed 20M >mixed
	vcompress -F lzv --block-size=64K <mixed >store.lzv
	seq 4 | parallel --will-cite -j2 -k vconvert --to=lz4 --shard={}/4 -c store.lzv >lz4.lzv
	vconvert --to=lz4 -c store.lzv | vdecompress | cmp - mixed
	vdecompress <lz4.lzv | cmp - mixed
}

# Made by hand: no value holds them, so they stay, and are counted.
# large_blocks FORMAT [TAKES]: three blocks, each behind its lengths: stored + TAKES and decoded
large_blocks() {
	python3 - "$@" <<-'END'
		import struct, sys
		for n in 2**29, 600000000, 1000:
		    more = n - 1 - 5 - 4 - 15
		    block = b'\x1fa\1\0' + b'\xff' * (more // 255) + bytes([more % 255, 0x50]) + b'a' * 5
		    head = [len(block) + int(sys.argv[2]), n]
		    if sys.argv[1][0] == '>':
		        head.reverse()
		    sys.stdout.buffer.write(struct.pack(sys.argv[1], *head[:len(sys.argv[1]) - 1]) + block)
	END
}

# bats test_tags=quick
@test "a large LZ4 block whose decoded size stands nowhere, or in front of it, is kept too" {
	local f
	needs python3
	large_blocks '<I' 0 >bare
	large_blocks '>II' 0 >hadoop
	for f in bare=len:u32le,size:max=1G,lz4 hadoop=hadoop; do
		vconvert --from="${f#*=}" --into=lzv --to=lzvolt --exact --report=report <"${f%%=*}" >there
		grep -q '"converted":1,"carried":0,"became_raw":0,"kept":2' report || fail "$f"
		vconvert --to=lz4 --into="${f#*=}" <there | cmp - "${f%%=*}" || fail "$f"
	done
	status_is 1 vconvert --from=len:u32le,size:max=560M,lz4 --into=lzv --to=lzvolt <bare
	status_is 1 vconvert --from=len:u32le,size:max=3G,lz4 --into=lzv --to=lzvolt <bare
}

@test "LZ4 blocks above 2^29 - 1 bytes are kept as LZ4 in any direction" {
	needs python3
	large_blocks '<II' 4 >store
	f=len:u32le,size:u32le,lz4
	vconvert --from=$f --into=lzv --to=lzvolt --exact --report=report <store >there
	grep -q '"converted":1,"carried":0,"became_raw":0,"kept":2' report
	vconvert --to=lz4 --into=$f <there | cmp - store
	vconvert --from=$f --into=lzv --to=raw --report=report <store >raw
	grep -q '"became_raw":0,"kept":2\|"became_raw":1,"kept":2' report
	[ "$(vdecompress <there | wc -c)" -eq $(((1 << 29) + 600001000)) ]
	status_is 1 vconvert -M 1G --from=$f --into=lzv --to=lzvolt -o x store
	[ ! -e x ]
	# lengths that LZ4 can't have, in a record and in a .lzv
	printf '\x05\0\0\0\xff\xff\xff\xff\0' >absurd
	status_is 1 vconvert --from=$f --into=lzv --to=lzvolt -o x absurd
	grep -q 'above the limit of' stderr
}
