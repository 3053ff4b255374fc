#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A stream of 20 GiB, made on the way and checked on the way, through packing and
# unpacking: the memory stays flat.  Takes minutes: make check-long.
# VOLTBOX_STREAM=SIZE takes another length.

load ../helper

# stream CODEC LIMIT-MB: the whole way, and both peaks below LIMIT
stream() {
	local size=${VOLTBOX_STREAM:-20G} rss
	needs_codec "$1"
	gen mixed "$size" |
		peak pack.rss vcompress -F "$1" |
		peak unpack.rss vdecompress -F "$1" |
		gen -c mixed "$size"
	for rss in "$(cat pack.rss)" "$(cat unpack.rss)"; do
		echo "# $1: $size, peak $((rss / 1024)) MiB" >&3
		[ "$rss" -lt $(($2 * 1024)) ] || fail "$1: peak $((rss / 1024)) MiB"
	done
}

@test "20 GiB through zstd in flat memory" { stream zstd 256; }
@test "20 GiB through lz4 in flat memory" { stream lz4 256; }
@test "20 GiB through lzv in flat memory" { stream lzv 256; }
@test "20 GiB through gzip in flat memory" { stream gzip 256; }
