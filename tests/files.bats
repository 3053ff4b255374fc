#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Files: names, what is kept and what deleted, safe outputs, modes, times.

# a pipe is what is tested; files may be called as commands are
# shellcheck disable=SC2002,SC2238

load helper
bats_require_minimum_version 1.5.0

@test "a file gets the codec's suffix, and loses it again; sources stay" {
	echo hello >f
	for s in zstd:zst lz4:lz4 gzip:gz brotli:br xz:xz bzip2:bz2 lzv:lzv; do
		has_codec "${s%:*}" || continue
		vcompress -F "${s%:*}" f
		[ -e "f.${s#*:}" ] || fail "no f.${s#*:}"
		mv f kept
		vdecompress "f.${s#*:}"
		same f kept
		[ -e "f.${s#*:}" ]
		rm "f.${s#*:}"
	done
}

@test ".tgz becomes .tar" {
	echo hello | vcompress -F gzip >a.tgz
	vdecompress a.tgz
	[ "$(cat a.tar)" = hello ]
}

@test "content decides, not the suffix" {
	echo hello | vcompress -F gzip >a.zst
	[ "$(vdecompress -c a.zst)" = hello ]
	echo hello | vcompress -F gzip >a.br
	[ "$(vdecompress -c a.br)" = hello ]
}

@test "a headerless format is found by a file's suffix or by -F" {
	needs_codec brotli
	echo hello | vcompress -F brotli >a.br
	[ "$(vdecompress -c a.br)" = hello ]
	run -1 sh -c 'vdecompress <a.br'
	[ "$(vdecompress -F brotli <a.br)" = hello ]
}

@test "an unknown suffix needs -o or -c" {
	echo hello | vcompress >a.bin
	status_is 1 vdecompress a.bin
	vdecompress a.bin -o b
	[ "$(cat b)" = hello ]
}

@test "already packed files are skipped with status 2; -f packs them" {
	echo hello | vcompress -F gzip >a.gz
	status_is 2 vcompress a.gz
	[ ! -e a.gz.zst ]
	vcompress -f a.gz
	[ -e a.gz.zst ]
}

@test "an existing file is not overwritten without -f" {
	echo old >f.zst
	echo new >f
	status_is 1 vcompress f </dev/null
	[ "$(cat f.zst)" = old ]
	vcompress -f f
	[ "$(vdecompress <f.zst)" = new ]
	status_is 1 vcompress f -o f.zst
	status_is 0 vcompress f -f -o f.zst
}

@test "one bad file doesn't stop the others; the worst status wins" {
	echo a >a
	echo b >b
	status_is 1 vcompress a missing b
	[ -e a.zst ]
	[ -e b.zst ]
	echo junk >junk.zst
	rm a b
	status_is 1 vdecompress a.zst junk.zst b.zst
	[ "$(cat a b)" = "$(printf 'a\nb')" ]
	[ ! -e junk ]
}

@test "--rm deletes a source only after success" {
	echo a >a
	vcompress --rm a
	[ ! -e a ]
	vdecompress --rm a.zst
	[ ! -e a.zst ]
	[ "$(cat a)" = a ]
	{ echo a | vcompress; echo junk; } >bad.zst
	status_is 1 vdecompress --rm bad.zst
	[ -e bad.zst ]
	[ ! -e bad ]
}

@test "--rm is ignored with stdout" {
	echo a >a
	vcompress --rm -c a >a.zst
	[ -e a ]
}

@test "--rm syncs the file and its folder before it deletes, --no-sync doesn't" {
	needs strace
	export ASAN_OPTIONS=detect_leaks=0	# its leak check can't be traced
	echo a >a
	strace -f -o trace -e trace=fsync,unlink,rename,renameat2 vcompress --rm a
	calls=$(grep -oE '(fsync|rename|unlink)' trace | tr '\n' ' ')
	[ "$calls" = "fsync rename fsync unlink " ] || fail "$calls"
	echo a >b
	strace -f -o trace -e trace=fsync vcompress --rm --no-sync b
	run -1 grep -q fsync trace
}

@test "the same file in and out is refused" {
	echo hello >f
	ln f g
	status_is 1 vcompress -f f -o g
	[ "$(cat f)" = hello ]
	run -1 sh -c 'vcompress -c f >>f'
	[ "$(cat f)" = hello ]
}

@test "mode, times in nanoseconds and owner come from the source" {
	echo hello >f
	chmod 640 f
	touch -d '2001-02-03 04:05:06.123456789' f
	[ "$(id -u)" -ne 0 ] || chown 1234:1235 f
	vcompress f
	[ "$(stat -c '%a %y %u %g' f.zst)" = "$(stat -c '%a %y %u %g' f)" ]
	mv f g
	vdecompress f.zst
	[ "$(stat -c '%a %y %u %g' f)" = "$(stat -c '%a %y %u %g' g)" ]
}

@test "from stdin the mode is the umask's" {
	umask 027
	echo hello | vcompress -o f
	[ "$(stat -c %a f)" = 640 ]
}

@test "while it is written the output is nobody else's and has no name yet" {
	umask 0
	mkfifo in
	vcompress -o out <in &
	exec 7>in
	for i in $(seq 100); do
		set -- .out.*
		[ -e "$1" ] && break
		sleep 0.05
	done
	[ "$(stat -c %a "$1")" = 600 ]
	[ ! -e out ]
	echo hello >&7
	exec 7>&-
	wait
	[ "$(vdecompress <out)" = hello ]
	[ "$(find . -name '.out.*' | wc -l)" -eq 0 ]
}

@test "a failed run leaves no file, not even a temporary one" {
	gen text 3M >plain
	vcompress <plain | head -c -9 >cut.zst
	status_is 1 vdecompress cut.zst
	[ "$(find . -newer plain ! -name cut.zst ! -name stderr ! -name .)" = "" ]
}

@test "a full disk leaves no file and gives status 1" {
	gen noise 3M >plain
	run -1 sh -c 'ulimit -f 512; trap "" XFSZ; vcompress -o out plain'
	[ "$(find . -name '*out*' | wc -l)" -eq 0 ]
}

@test "symbolic links: skipped for a file output, read with -c, -f follows" {
	echo hello >f
	ln -s f l
	status_is 2 vcompress l
	[ ! -e l.zst ]
	[ "$(vcompress -c l | vdecompress)" = hello ]
	vcompress -f l
	[ -e l.zst ]
}

@test "FIFOs and <(...) are read when output is stdout" {
	[ "$(vcompress -c <(echo hello) | vdecompress -c -)" = hello ]
	[ "$(vdecompress -c <(echo hello | vcompress))" = hello ]
	mkfifo p
	status_is 2 vcompress p </dev/null
}

@test "a folder is skipped with status 2; -r takes what is below" {
	mkdir -p d/e
	echo a >d/a
	echo b >d/e/b
	ln -s a d/link
	status_is 2 vcompress d
	vcompress -r d
	[ -e d/a.zst ]
	[ -e d/e/b.zst ]
	[ ! -e d/link.zst ]
	rm d/a d/e/b
	vdecompress -r d
	[ "$(cat d/a d/e/b)" = "$(printf 'a\nb')" ]
}

@test "--files0 reads NUL-separated names" {
	echo a >'a b'
	echo c >$'c\nd'
	printf 'a b\0c\nd\0' >list
	vcompress --files0=list
	[ -e 'a b.zst' ]
	[ -e $'c\nd.zst' ]
	rm -- *.zst
	vcompress --files0 <list
	[ -e $'c\nd.zst' ]
}

@test "-t writes nothing and touches nothing, not even /dev/null" {
	echo hello >f
	vcompress f
	before=$(stat -c '%a %u %t %T' /dev/null)
	vdecompress -t f.zst
	vdecompress -f f.zst -o /dev/null
	[ "$(stat -c '%a %u %t %T' /dev/null)" = "$before" ]
	[ -c /dev/null ]
}

@test "sparse: zeros become holes in files we make, --no-sparse fills them" {
	gen zero 8M >zero
	vcompress zero
	vdecompress -f zero.zst
	[ "$(stat -c %s zero)" -eq $((8 << 20)) ]
	[ "$(stat -c %b zero)" -lt 1000 ] || skip "no holes on this file system"
	cmp -n $((8 << 20)) zero /dev/zero
	vdecompress -f --no-sparse zero.zst
	[ "$(stat -c %b zero)" -ge 16384 ]
}

@test "sparse: data between holes and behind them come out right" {
	{ head -c 100000 /dev/zero; echo x; head -c 300000 /dev/zero; echo y; head -c 65536 /dev/zero; } >f
	vcompress f
	mv f g
	vdecompress f.zst
	same f g
}

@test "sparse is off on stdout unless asked for, and with >> in any case" {
	gen zero 4M >zero
	vcompress zero
	vdecompress <zero.zst >out
	[ "$(stat -c %b out)" -ge 8192 ]
	vdecompress --sparse <zero.zst >out
	[ "$(stat -c %s out)" -eq $((4 << 20)) ]
	echo head >app
	vdecompress --sparse <zero.zst >>app
	[ "$(stat -c %s app)" -eq $(((4 << 20) + 5)) ]
	[ "$(head -1 app)" = head ]
}

@test "--verify decodes the output before it gets its name" {
	gen text 3M >f
	for f in zstd lz4 gzip brotli lzv; do
		has_codec $f || continue
		vcompress -F $f --verify f -f -o out
		vdecompress -F $f -c out | cmp - f
		vcompress -F $f --verify -f -o out <f
	done
	status_is 1 vcompress --verify -c f
}

@test "--sidecar makes br, gz and zst next to the file, where smaller" {
	needs_codec brotli
	gen text 100K >page.html
	touch -d '2020-01-01 00:00:00.5' page.html
	vcompress --sidecar=br,gz,zst page.html
	for s in br gz zst; do
		vdecompress -c page.html.$s | cmp - page.html
		[ "$(stat -c %y page.html.$s)" = "$(stat -c %y page.html)" ]
	done
	gen noise 10K >image
	vcompress --sidecar=gz,zst image
	[ ! -e image.gz ]
	[ ! -e image.zst ]
	status_is 1 vcompress --sidecar=rar page.html
}

@test "--size unpacks a bare LZ4 block, without it the option is asked for" {
	gen text 5000 >plain
	vcompress -F lz4-block <plain >block
	vdecompress -F lz4-block --size=5000 <block | cmp - plain
	run -1 vdecompress -F lz4-block block -c
	[[ $output == *--size* ]]
}

@test "a dictionary packs and unpacks; without it the error names it" {
	needs zstd
	for i in $(seq 2000); do echo "record $i of many, alike"; done >all
	split -l 20 all part.
	zstd -q --train part.* -o dict --maxdict=4096
	vcompress -D dict -c part.aa >packed
	vdecompress -D dict -c packed | cmp - part.aa
	status_is 1 vdecompress -c packed
	grep -qi dict stderr
	status_is 1 vcompress -F gzip -D dict -c part.aa
	status_is 1 vdecompress -D missing -c packed
}

@test "the source may grow while it is packed" {
	gen text 1M >f
	gen text 1M >>f
	vcompress -c f >out
	(for i in $(seq 50); do echo more >>f; done) &
	for i in 1 2 3; do vcompress -c f | vdecompress -t || fail "round $i"; done
	wait
}

# The first file's states serve the others: the bytes must not tell.
@test "a file packs to the same bytes alone and behind others" {
	gen text 5000 >a
	gen noise 70000 >b
	gen ndjson 400K >c
	: >d
	gen text 300 >e
	for f in zstd lz4 lz4-legacy gzip zlib brotli lzv xz lzma bzip2; do
		has_codec "$f" || continue
		vcompress -q -F "$f" -c a b c d e a >all
		for x in a b c d e a; do vcompress -q -F "$f" -c $x; done | cmp - all
		vcompress -q -F "$f" -T1 -c a b c d e a | cmp - all
	done
}
