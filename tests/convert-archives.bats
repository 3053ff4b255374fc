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

needs_archive() {
	vconvert --from=cpio --into=lzv --to=raw </dev/null >/dev/null 2>err || true
	if grep -q 'not built in\|libarchive' err; then skip "no libarchive"; fi
}

# bats test_tags=quick
@test "cpio and zip archives are read" {
	needs cpio zip
	needs_archive
	make_tree
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
		for n in 1 50 1000 30000; do
			status_is 1 vconvert --from=$f --into=lzv --to=raw < <(head -c $n a.$f)
		done
	done
}

# make_dated_tree TIME: a tree with dates to be carried, TIME being the folders'
make_dated_tree() {
	make_tree
	touch -d '2020-02-02 02:02:02' tree/text
	find tree -type d -exec touch -d "2021-03-04 $1" {} +
}

# list_tree FOLDER: names, types, modes, links; times of files, which cpio -m restores
list_tree() {
	(cd "$1" && find . -type f -printf '%P %m %Ts\n' -o -printf '%P %y %m %l\n' | sort)
}

# tree_is_whole TOOL: out/tree is tree, with its modes, times and links
tree_is_whole() {
	diff -r tree out/tree || fail "$1: other files"
	list_tree tree >want
	list_tree out/tree >got
	diff want got || fail "$1: other metadata"
}

# bats test_tags=quick
@test "cpio archives are written: the usual tools and we read the same tree" {
	needs_archive
	make_dated_tree 05:06:07
	tar --format=pax -cf a.tar tree
	vconvert --from=tar --to=lzvolt <a.tar >b.tar
	vconvert --from=tar --into=cpio --to=raw <b.tar >a.cpio
	vconvert --from=tar --into=cpio --to=raw -T1 <a.tar | cmp - a.cpio
	vconvert --from=cpio --to=raw <a.cpio | cmp - a.cpio
	vconvert --from=cpio --into=tar --to=raw <a.cpio >c.tar
	rm -rf out && mkdir out && tar --warning=none -xf c.tar -C out
	tree_is_whole "our cpio as tar"
	for tool in "cpio -idm --quiet" "bsdtar -xf -"; do
		command -v "${tool%% *}" >/dev/null || continue
		rm -rf out && mkdir out
		(cd out && $tool <../a.cpio) || fail "$tool refuses it"
		tree_is_whole "$tool"
	done
}

# bats test_tags=quick
@test "zip archives are written: stored, and the usual tools read the same tree" {
	needs_archive
	make_dated_tree 05:06:06
	tar --format=gnu -cf a.tar tree
	vconvert --from=tar --into=lzv --to=lzvolt <a.tar >a.lzv
	vconvert --into=zip --to=raw <a.lzv >a.zip
	vconvert --from=tar --into=zip --to=raw -T1 <a.tar | cmp - a.zip
	vconvert --from=zip --into=lzv --to=lzvolt <a.zip >b.lzv
	vdecompress --key=tree/text b.lzv | cmp - tree/text
	vdecompress --key=tree/ü/ö b.lzv | cmp - tree/ü/ö
	for tool in "unzip -q ../a.zip" "bsdtar -xf ../a.zip"; do
		command -v "${tool%% *}" >/dev/null || continue
		rm -rf out && mkdir out
		(cd out && LC_ALL=C.UTF-8 $tool) || fail "$tool refuses it"
		tree_is_whole "$tool"
	done
	command -v python3 >/dev/null || return 0
	python3 - <<-'END'
		import zipfile
		z = zipfile.ZipFile("a.zip")
		assert z.testzip() is None
		for i in z.infolist():
		    assert i.compress_type == zipfile.ZIP_STORED, i
		assert "tree/ü/ö" in z.namelist(), z.namelist()
		assert z.getinfo("tree/text").external_attr >> 16 == 0o100640
		assert z.getinfo("tree/text").date_time == (2020, 2, 2, 2, 2, 2)
	END
}

# bats test_tags=quick
@test "cpio and zip have no place for a flag: one encoding for all, by the caller's word" {
	needs_archive
	make_tree
	rm tree/noise tree/empty tree/link	# a zip's links are only in its directory
	tar -cf a.tar tree
	for f in cpio zip; do
		status_is 1 vconvert --from=tar --into=$f --to=lzvolt <a.tar
		grep -q 'lzvolt-migration(7), rule 3' stderr
		status_is 1 vconvert --from=tar --into=$f,lz4 --to=lz4 <a.tar
		grep -q 'decoded size' stderr
		vconvert --from=tar --into=$f --to=raw <a.tar >raw.$f
		status_is 1 vconvert --from=$f --to=lzvolt raw.$f
		grep -q 'lzvolt-migration(7), rule 3' stderr
		vconvert --from=$f --into=$f,lzvolt --to=lzvolt <raw.$f >v.$f
		[ "$(wc -c <v.$f)" -lt $(($(wc -c <raw.$f) * 3 / 4)) ]
		vconvert --from=$f,lzvolt --into=$f,size:max=1M,lz4 --to=lz4 <v.$f >l.$f
		vconvert --from=$f,size:max=1M --assume=lz4 --into=lzv --to=raw <l.$f >x.lzv
		vdecompress --key=tree/text x.lzv | cmp - tree/text
		vconvert --from=$f,lzvolt --into=lzv --to=raw <v.$f >x.lzv
		vdecompress --key=tree/ü/ö x.lzv | cmp - tree/ü/ö
		# what can't have the encoding is an error, no surprise
		gen noise 70000 >tree/noise
		tar -cf n.tar tree
		rm tree/noise
		status_is 1 vconvert --from=tar --into=$f,lzvolt --to=lzvolt <n.tar
		grep -q 'no place for raw records' stderr
	done
	bsdtar --version >/dev/null 2>&1 || return 0
	bsdtar -xOf v.cpio tree/text | vdecompress -F lzvolt | cmp - tree/text
}

# bats test_tags=quick
@test "what cpio and zip can't hold is refused by its number" {
	needs_archive
	mkdir tree
	echo text >tree/text
	ln tree/text tree/hard
	tar -cf a.tar tree/text tree/hard
	for f in cpio zip; do
		status_is 1 vconvert --from=tar --into=$f --to=raw <a.tar
		grep -q 'entry 1: a hard link' stderr
	done
	mkfifo tree/pipe
	tar -cf a.tar tree/pipe
	status_is 1 vconvert --from=tar --into=zip --to=raw <a.tar
	grep -q 'entry 0: neither a file' stderr
	vconvert --from=tar --into=cpio --to=raw <a.tar >a.cpio
	vconvert --from=cpio --into=tar --to=raw <a.cpio | tar -tvf - 2>/dev/null | grep -q '^p'
	# a file larger than memory allows, in an entry that is no record
	truncate -s 3G tree/sparse
	tar -S -cf a.tar tree/sparse
	status_is 1 vconvert -M 64M --from=tar --into=cpio --to=raw <a.tar
	grep -q 'above the memory limit' stderr
	status_is 1 vcompress -F lzv --records=cpio <a.cpio
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
	needs_archive
	printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X' \
		1 33188 0 0 1 0 100 0 0 0 0 3221225472 0 >a.cpio
	(cat a.cpio; head -c 300M /dev/zero) |
		peak rss vconvert -M 512M --from=cpio --into=lzv --to=raw >x 2>err || status=$?
	[ "${status:-0}" -eq 1 ]
	grep -q 'entry 0: a header is above the memory limit' err
	[ "$(cat rss)" -lt 150000 ]
}
