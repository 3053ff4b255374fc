#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# vconvert: the files of tar, cpio and zip archives.

load helper

make_tree() {
	local long
	long=$(printf 'n%.0s' {1..90})
	mkdir -p "tree/$long/$long" tree/ü
	gen text 300000 >tree/text
	gen noise 70000 >tree/noise
	gen ndjson 20000 >"tree/$long/$long/deep"
	gen mixed 99999 >tree/ü/ö
	: >tree/empty
	ln -s text tree/link
	truncate -s 300K tree/sparse
	echo end >>tree/sparse
	chmod 640 tree/text
}

# bats test_tags=quick
@test "a tar archive comes back byte for byte, through lzvolt, LZ4 and .lzv" {
	local o
	make_tree
	ln tree/text tree/hard
	for o in gnu "gnu -S" pax "pax -S" ustar v7; do
		# shellcheck disable=SC2086
		tar --format=$o -cf a.tar tree 2>/dev/null || true
		vconvert --from=tar --to=lzvolt <a.tar >b.tar
		[ "$(wc -c <b.tar)" -lt "$(wc -c <a.tar)" ] || fail "$o: not smaller"
		grep -aq "LZVOLT.encoding=lzvolt" b.tar
		vconvert --from=tar --to=lzvolt -T1 <a.tar | cmp - b.tar
		vconvert --from=tar --to=lz4 <b.tar >c.tar
		grep -aq "LZVOLT.encoding=lz4" c.tar
		[ "$(vconvert --from=tar --to=raw <b.tar | sha)" = "$(sha <a.tar)" ] || fail "$o: lzvolt"
		[ "$(vconvert --from=tar --to=raw <c.tar | sha)" = "$(sha <a.tar)" ] || fail "$o: lz4"
		vconvert --from=tar --into=lzv --to=lzvolt <a.tar >a.lzv
		vconvert --into=tar --to=raw <a.lzv | cmp - a.tar
		vconvert --into=tar --to=lzvolt <a.lzv | cmp - b.tar
		tar -tf a.tar >names
		tar -tf b.tar 2>/dev/null | cmp - names || fail "$o: GNU tar reads other names"
		vdecompress --key=tree/text a.lzv | cmp - tree/text
	done
}

# bats test_tags=quick
@test "cpio and zip archives are read, and never written" {
	needs cpio zip
	needs_codec brotli
	make_tree
	vconvert --from=cpio --into=lzv --to=raw </dev/null >/dev/null 2>err || true
	if grep -q 'not built in' err; then skip "libarchive is not built in"; fi
	for f in odc newc; do
		find tree | cpio -o -H $f >a.cpio 2>/dev/null
		vconvert --from=cpio --into=tar --to=lzvolt <a.cpio >b.tar
		rm -rf out && mkdir out
		vconvert --from=tar --to=raw <b.tar | tar -xf - -C out 2>/dev/null
		diff -r tree out/tree
		[ "$(stat -c %a out/tree/text)" = 640 ]
		[ -L out/tree/link ]
	done
	zip -qr - tree | cat >a.zip
	vconvert --from=zip --into=lzv --to=lzvolt <a.zip >a.lzv
	vdecompress --key=tree/text a.lzv | cmp - tree/text
	vdecompress --key=tree/ü/ö a.lzv | cmp - tree/ü/ö
	for f in cpio zip; do
		status_is 1 vconvert --from=$f --to=lzvolt a.$f
		grep -q 'lzvolt-migration(7), rule 3' stderr
		status_is 1 vconvert --from=lzv --into=$f --to=lzvolt -c a.lzv
		grep -q 'lzvolt-migration(7), rule 3' stderr
		for n in 1 50 1000 30000; do
			status_is 1 vconvert --from=$f --into=lzv --to=raw < <(head -c $n a.$f)
		done
	done
}

# bats test_tags=quick
@test "damaged and absurd tar archives: the entry, its offset, what was expected" {
	make_tree
	tar --format=pax -cf a.tar tree/text tree/noise
	vconvert --from=tar --to=lzvolt <a.tar >b.tar
	for n in 1 511 513 1500 3000 200000; do
		status_is 1 vconvert --from=tar --to=raw < <(head -c $n a.tar)
		grep -q 'offset' stderr
	done
	{ head -c 100 a.tar; printf X; tail -c +102 a.tar; } >bad
	status_is 1 vconvert --from=tar --to=raw <bad
	grep -q 'entry 0: expected a tar header.*offset 0' stderr
	sed 's/LZVOLT.encoding=lzvolt/LZVOLT.encoding=lzvxxx/' b.tar >bad
	status_is 1 vconvert --from=tar --to=raw <bad
	grep -q 'none of raw, lz4, lzvolt' stderr
	# a value that is shorter than it says
	sed 's/LZVOLT.size=300000/LZVOLT.size=300001/' b.tar >bad
	status_is 1 vconvert --from=tar --to=raw <bad
	grep -q 'record 0' stderr
	# 2^33 - 1 bytes, declared by a header whose checksum is right
	status_is 1 vconvert -M 64M --from=tar --to=raw < <(python3 -c 'import sys, tarfile
t = tarfile.TarInfo("x"); t.size = 2 ** 33 - 1
sys.stdout.buffer.write(t.tobuf(tarfile.USTAR_FORMAT) + bytes(4096))')
	grep -q 'entry 0: a file of 8589934591 bytes is above the limit' stderr
}

@test "a cpio header that claims a name of 3 GB takes no 3 GB" {
	needs_codec brotli
	printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X' \
		1 33188 0 0 1 0 100 0 0 0 0 3221225472 0 >a.cpio
	(cat a.cpio; head -c 300M /dev/zero) |
		peak rss vconvert -M 512M --from=cpio --into=lzv --to=raw >x 2>err || status=$?
	[ "${status:-0}" -eq 1 ]
	grep -q 'entry 0: a header is above the memory limit' err
	[ "$(cat rss)" -lt 150000 ]
}
