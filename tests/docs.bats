#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the documents say is so: every option stands in its man page and the other
# way round, and the examples run.

load helper

applets() { voltbox --list; }

# page APPLET: the man page as plain text
page() {
	mandoc -T ascii "$root/man/$1.1" | col -b
}

# long_options: the words like --name in a text, one a line
long_options() {
	grep -oE -- '(^|[^-a-z0-9])--[a-z][a-z0-9-]*' | grep -oE -- '--[a-z0-9-]+' | sort -u
}

short_options() {
	grep -oE -- '(^|[[:space:],(|])-[a-zA-Z]\b' | grep -oE -- '-[a-zA-Z]' | sort -u
}

# bats test_tags=quick
@test "every option of --help stands in the man page" {
	needs mandoc col
	local a
	for a in $(applets); do
		$a --help >help
		page "$a" >page
		long_options <help >have
		long_options <page >told
		comm -23 have told >missing
		[ ! -s missing ] || fail "$a.1 doesn't tell: $(tr '\n' ' ' <missing)"
		sed -n 's/^  \(-[a-zA-Z]\)[, ].*/\1/p' help | sort -u >have
		short_options <page >told
		comm -23 have told >missing
		[ ! -s missing ] || fail "$a.1 doesn't tell: $(tr '\n' ' ' <missing)"
		[ -s have ]
	done
}

# bats test_tags=quick
@test "every option that a man page lists is one" {
	needs mandoc col
	local a
	for a in $(applets); do
		$a --help | long_options >have
		sed -n 's/^\.It Fl -\([a-z0-9-]*\).*/--\1/p; s/^\.It Fl . , Fl -\([a-z0-9-]*\).*/--\1/p' \
			"$root/man/$a.1" | sort -u >told
		comm -13 have told >missing
		[ ! -s missing ] || fail "$a.1 tells of none: $(tr '\n' ' ' <missing)"
		[ -s told ]
	done
}

# bats test_tags=quick
@test "every format that voltbox.1 lists packs, or --version says why not" {
	local format n=0
	voltbox --version >version
	while read -r format; do
		n=$((n + 1))
		printf '' | vcompress -F "$format" >/dev/null 2>err && continue
		grep -q "^without $format:" version ||
			fail "$format: $(cat err)"
	done < <(sed -n 's/^\.It \([a-z0-9-]*\) Ta .*/\1/p' "$root/man/voltbox.1")
	[ $n -ge 15 ]
}

# examples FILE: the lines "$ command" of a man page's EXAMPLES
examples() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh [^E]/s/^\$ //p' "$1"
}

# material: the files that examples speak of
material() {
	mkdir -p logs site
	gen ndjson 300K >access.log
	cp access.log logs/a.log
	gen text 50K >logs/b.log
	gen text 20K >site/index.html
	gen mixed 2M >dump.tar
	gen mixed 400K >image.raw
	gen ndjson 60K >words.dict
	gen noise 100K >photo.jpeg
	vcompress -F zstd <dump.tar >dump.tar.zst
	head -c 100000 dump.tar.zst >damaged.tar.zst
	vcompress -F gzip <access.log >old.log.gz
	vcompress -F zstd <image.raw >image.raw.zst
	vcompress -F lz4-block <access.log >access.lz4b
}

@test "the examples of vcompress.1 and vdecompress.1 run" {
	local page line n=0
	for page in vcompress vdecompress; do
		examples "$root/man/$page.1" >lines
		while IFS= read -r line; do
			rm -rf box && mkdir box && cd box && material
			bash -eo pipefail -c "$line" >out 2>err </dev/null ||
				fail "$page.1: $line: $(head -c 300 err)"
			cd ..
			n=$((n + 1))
		done <lines
	done
	[ $n -ge 10 ]
}

@test "the tour of the README runs" {
	local line n=0
	mkdir tree && cp "$root"/LICENSE "$root"/README.md "$root"/Makefile tree
	cp -r "$root/cmd" tree && cd tree
	sed -n '/^    \$ /s/^    \$ //p' "$root/README.md" >lines
	while IFS= read -r line; do
		bash -c "$line" >out 2>err </dev/null ||
			fail "README: $line: $(head -c 300 err)"
		n=$((n + 1))
	done <lines
	[ $n -ge 8 ]
}

# bats test_tags=quick
@test "the man pages pass mandoc's lint" {
	needs mandoc
	mandoc -T lint -W warning "$root"/man/*.[1-9]
}

# bats test_tags=quick
@test "make install puts every piece in its place, uninstall takes it away" {
	needs make
	make -s -C "$root" BUILD="$build" DESTDIR="$PWD/dest" PREFIX=/usr install >log 2>&1 ||
		fail "$(tail -n 5 log)"
	local a
	for a in voltbox $(applets); do
		[ -x dest/usr/bin/"$a" ] || fail "no $a"
		[ -f dest/usr/share/man/man1/"$a".1 ] || fail "no $a.1"
	done
	[ "$(readlink dest/usr/bin/vcompress)" = voltbox ]
	echo hello | dest/usr/bin/vcompress | dest/usr/bin/vdecompress | grep -qx hello
	make -s -C "$root" BUILD="$build" DESTDIR="$PWD/dest" PREFIX=/usr uninstall >log 2>&1
	find dest -type f -o -type l >left
	[ ! -s left ] || fail "left behind: $(cat left)"
}
