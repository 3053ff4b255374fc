#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Blocks and frames that lz4_flex, Go's pierrec/lz4 and python-lz4 make here: to lzvolt
# and back whole files are the same, and what we make of lzvolt values they read.
# make check-peers; builds them below BUILD, skips what can't be built.

load ../helper

python_lz4=4.4.5

make_inputs() {
	gen text 1500K >text
	gen mixed 9M >mixed
	gen noise 300K >noise
	gen ndjson 2M >ndjson
	cat text noise ndjson mixed >all
}

# peer_flex, peer_pierrec, peer_python: set peer, or skip
peer_flex() {
	needs cargo
	CARGO_TARGET_DIR=$build/peers/cargo cargo build --quiet --release --bin flex \
		--manifest-path "$root/tests/peers/Cargo.toml" 2>log || skip "no lz4_flex: $(tail -n 1 log)"
	peer=("$build/peers/cargo/release/flex")
}

peer_pierrec() {
	needs go
	(cd "$root/tests/peers/go" && GOFLAGS=-mod=mod go build -o "$build/peers/pierrec" .) 2>log ||
		skip "no pierrec/lz4: $(tail -n 1 log)"
	peer=("$build/peers/pierrec")
}

peer_python() {
	local python=$build/peers/python/bin/python3
	needs python3
	if python3 -c 'import lz4.block, lz4.frame' 2>/dev/null; then
		python=$(command -v python3)
	elif [ ! -x "$python" ]; then
		{ python3 -m venv "$build/peers/python" &&
			"$build/peers/python/bin/pip" -q install "lz4==$python_lz4"; } 2>log ||
			skip "no python-lz4: $(tail -n 1 log)"
	fi
	"$python" -c 'import lz4.block' || skip "no python-lz4"
	peer=("$python" "$root/tests/peers/python_lz4.py")
}

# blocks WORD SIZE: records by the peer, there and back; then native values, rolled back
blocks() {
	local f=len:u32le,size:u32le,lz4
	"${peer[@]}" "$1" "$2" <all >stored
	vconvert --from=$f --into=lzv --to=lzvolt --exact --report=report <stored >there
	grep -q '"kept":0,"failed":0' report || fail "$1 $2: $(cat report)"
	vdecompress <there | cmp - all
	vconvert --to=lz4 --into=$f <there >back
	[ "$(sha <back)" = "$(sha <stored)" ] || fail "$1 $2: other bytes"
	vconvert --from=$f --into=lzv --to=lzvolt <stored >native
	vconvert --to=lz4 --recompress --into=$f <native >rolled
	"${peer[@]}" undump <rolled | cmp - all || fail "$1 $2: the peer reads our blocks otherwise"
	echo "# $1 $2: $(stat -c %s stored) -> exact $(stat -c %s there), repacked $(stat -c %s native)" >&3
}

# frames WORD SIZE
frames() {
	"${peer[@]}" "$1" "$2" <all >stored
	vconvert --to=lzvolt --exact <stored >there
	vconvert --to=lz4 --into=lz4-frame <there >back
	[ "$(sha <back)" = "$(sha <stored)" ] || fail "$1 $2: other bytes"
	vdecompress <stored | cmp - all
	vcompress -F lz4 <all | "${peer[@]}" unframe | cmp - all
}

# all_sizes WORD...: blocks by each, and frames
all_sizes() {
	local word size
	for word in "$@"; do
		for size in 512 4096 65536 4194304; do blocks "$word" $size; done
	done
	for size in 65536 262144 1048576 4194304; do frames frame $size; done
}

@test "lz4_flex: blocks at four sizes, frames, linked frames" {
	peer_flex
	make_inputs
	all_sizes dump
	frames linked 65536
}

@test "Go's pierrec/lz4: blocks, fast and HC, at four sizes, frames" {
	peer_pierrec
	make_inputs
	all_sizes dump hc
}

@test "python-lz4: blocks, fast and HC, at four sizes, frames, linked frames" {
	peer_python
	make_inputs
	all_sizes dump hc
	frames linked 65536
}
