#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# vconvert --shard in the tasks of Spark's local mode, on an .lzv file of 1 GB of LZ4
# records: vconvert(1)'s script and commands as they stand there.  make check-spark;
# VOLTBOX_SPARK_RAW=SIZE takes another size of what is packed.

load ../helper

pyspark=4.3.0

# needs_spark: spark-submit on PATH, from a venv of our own; skip where it can't be
needs_spark() {
	local venv=$build/peers/spark
	needs java python3
	if [ ! -x "$venv/bin/spark-submit" ]; then
		{ python3 -m venv "$venv" && "$venv/bin/pip" -q install "pyspark==$pyspark"; } ||
			skip "pyspark $pyspark can't be installed"
	fi
	"$venv/bin/python3" -c 'import pyspark' || skip "pyspark is not installed"
	PATH=$venv/bin:$PATH
}

# page: the lines of the example: they stand in the page's only unfilled displays
page() {
	awk '/^\.Ed/ { on = 0 } on { print } /^\.Bd -unfilled/ { on = 1 }' \
		"$root/man/vconvert.1" | sed 's/\\e/\\/g'
}

# watched: a vconvert on PATH that leaves its peak memory in rss.PID
watched() {
	mkdir bin
	printf '#!/bin/sh\nexec peak "%s/rss.$$" "%s/vconvert" "$@"\n' "$PWD" "$build" >bin/vconvert
	chmod +x bin/vconvert
	PATH=$PWD/bin:$PATH
}

# records FILE: the records alone, with length and flag, whatever stands between them
records() {
	vconvert --to=lzvolt --into=len:u32le,flag:u8 --flag=raw=0,lz4=1,lzvolt=2 -c "$1"
}

# count FILE: its records in all members
count() {
	vdecompress -l --json "$1" | python3 -c 'import json, sys
print(sum(m["blocks"] for m in json.load(sys.stdin)["list"]))'
}

@test "Spark: four tasks convert 1 GB by --shard, and the records are those of one run" {
	local raw=${VOLTBOX_SPARK_RAW:-2G} rss start
	needs_spark
	gen mixed "$raw" |
		vconvert --from=fixed:65536,raw --into=lzv --to=lz4 --recompress >store.lzv
	[ -n "$VOLTBOX_SPARK_RAW" ] || [ "$(stat -c %s store.lzv)" -ge 1000000000 ]
	vconvert --to=lzvolt -c store.lzv >whole.lzv

	page | grep -v '^\$ ' | diff - <(sed '/^# SPDX/d' "$root/tests/long/spark_shards.py")
	cp "$root/tests/long/spark_shards.py" .
	watched
	export SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$PWD
	start=$SECONDS
	page | sed -n 's/^\$ //p' >commands
	[ "$(wc -l <commands)" -eq 2 ]
	peak spark.rss bash -e commands 2>log || fail "$(tail -n 30 log)"
	echo "# $(stat -c %s store.lzv) bytes: $((SECONDS - start)) s, the job" \
		"$(grep -o 'Job 0 finished.* took [0-9]*' log | grep -o '[0-9]*$') ms; Spark's peak" \
		"$(($(cat spark.rss) / 1024)) MiB, vconvert's $(cat rss.* | tr '\n' ' ')KiB" >&3

	[ "$(cat rss.* | wc -l)" -eq 4 ]
	[ "$(count new.lzv)" -eq "$(count store.lzv)" ]
	[ "$(records new.lzv | sha)" = "$(records whole.lzv | sha)" ]
	vdecompress <new.lzv | gen -c mixed "$raw"
	rss=$(cat rss.* | sort -n | tail -n 1)
	[ "$rss" -lt $((64 * 1024)) ] || fail "peak $rss KiB"
}
