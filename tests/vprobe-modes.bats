#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# vprobe's measuring modes: --bench, --train, --columns, --blocks.

load helper

# bats test_tags=quick
@test "--bench: sizes are vcompress's, ranges hold their median, fronts are right" {
	needs python3
	needs_codec zstd lz4
	seq 40000 >f
	vprobe --bench=zstd:1,3,lz4 --rounds 3 --json f >out.json
	for c in "zstd 1" "zstd 3" "lz4 1"; do
		printf '%s %s\n' "$c" "$(vcompress -F "${c% *}" "-${c#* }" -c f | wc -c)"
	done >sizes
	python3 - out.json sizes <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		size = {" ".join(l.split()[:2]): int(l.split()[2]) for l in open(sys.argv[2])}
		assert [x["choice"] for x in r["rows"]] == ["zstd 1", "zstd 3", "lz4 1"]
		assert r["seed"] > 0 and r["rounds"] == 3 and r["kernel"]
		for x in r["rows"]:
		    # what a file's frame has beside a known size in memory: a few bytes
		    assert abs(x["packed"] - size[x["choice"]]) <= 16, (x["packed"], size)
		    assert abs(x["ratio"] - r["bytes"] / x["packed"]) < 1e-3
		    assert x["library"].split()[1][0].isdigit()
		    for side in "pack", "unpack":
		        s = x[side]
		        assert 0 < s["speed_low"] <= s["speed"] <= s["speed_high"]
		        assert s["cpu_seconds_per_gb"] > 0
		        for o in r["rows"]:
		            t = o[side]
		            touch = s["speed_low"] <= t["speed_high"] and t["speed_low"] <= s["speed_high"]
		            if o is not x:
		                assert touch == (o["choice"] in s["no_difference"])
		            if o["ratio"] > x["ratio"] and t["speed"] > s["speed"]:
		                assert not s["front"]
		    assert any(y[side]["front"] for y in r["rows"])
	END
}

# bats test_tags=quick
@test "--bench: a seed gives the same order of work and the same sizes" {
	needs_codec lz4
	seq 1000 >f
	vprobe --bench=lz4:1 --rounds 3 --seed 7 f | grep -q -e '--seed=7,'
	status_is 1 vprobe --bench --seed 0 f
	status_is 1 vprobe --bench --seed x f
}

# bats test_tags=quick
@test "--bench --block: blocks are packed one by one" {
	needs python3
	needs_codec zstd
	seq 20000 >f
	b=$(vprobe --bench=zstd:1 --rounds 3 --block 1K --json f | python3 -c 'import json,sys; print(json.load(sys.stdin)["rows"][0]["packed"])')
	c=0
	split -b 1024 f part.
	for p in part.*; do
		c=$((c + $(vcompress -F zstd -1 -c "$p" | wc -c)))
	done
	[ "$b" -eq "$c" ] || fail "$b, not $c"
}

# bats test_tags=quick
@test "--bench: CSV has a value for every column, SVG is well-formed, plot names rows" {
	needs python3
	needs_codec zstd lz4
	seq 5000 >'a<b&c'
	vprobe --bench=zstd:1,lz4 --rounds 3 --csv --svg out.svg 'a<b&c' >out.csv
	python3 - <<-'END'
		import csv, xml.dom.minidom
		rows = list(csv.DictReader(open("out.csv")))
		assert len(rows) == 2
		for r in rows:
		    assert None not in r and None not in r.values()
		    assert float(r["pack_low"]) <= float(r["pack_mb_s"]) <= float(r["pack_high"])
		d = xml.dom.minidom.parse("out.svg")
		t = [n.firstChild.data for n in d.getElementsByTagName("text")]
		assert "zstd 1" in t and "lz4 1" in t and t[0].startswith("a<b&c")
	END
	vprobe --bench=zstd:1,lz4 --rounds 3 --plot 'a<b&c' >out
	grep -q '1 zstd 1  *2 lz4 1' out
	status_is 1 vprobe --bench=lz4 --rounds 3 --svg /dev/full 'a<b&c'
}

# bats test_tags=quick
@test "--bench: empty input, options without it" {
	: >empty
	status_is 1 vprobe --bench empty
	status_is 1 vprobe --bench=nothing empty
	seq 9 >f
	status_is 1 vprobe --csv f
	status_is 1 vprobe --block 1K f
	status_is 1 vprobe --width 3 f
	status_is 1 vprobe --records lines f
	status_is 1 vprobe -o dict f
	status_is 1 vprobe --each f
}

@test "--bench agrees with the libraries' own loops" {
	needs_shared corpus
	[ -x "$tools/probe-loops" ] || skip "build/tests/probe-loops is not built"
	for _ in 1 2 3; do
		"$tools/probe-loops" "$shared/corpus/json/earthquakes.json" >out && break
	done
	cat out >&2
	[ "$(grep -c '^ok' out)" -eq 3 ]
}

# bats test_tags=quick
@test "--train: at least twice the ratio on held-out messages" {
	needs python3
	needs_shared corpus
	needs_codec zstd
	for f in messages flights; do
		vprobe --train -o dict --codecs=zstd:3 --json "$shared/corpus/ndjson/$f.ndjson" >out.json
		python3 - out.json <<-'END'
			import json, sys
			r = json.load(open(sys.argv[1]))
			m = r["choices"][0]["messages"]
			assert m[0]["with"] >= 2 * m[0]["without"], m[0]
			gain = [x["with"] / x["without"] for x in m]
			assert gain[0] > gain[-1] and r["choices"][0]["gain_ends"], gain
			assert r["trained"] > 0 and r["held_out"] > 0 and r["id"] > 0
		END
	done
}

# The report's own word, checked on the last lines with the codec's command.
# bats test_tags=quick
@test "--train: the dictionary serves vcompress and vdecompress" {
	needs_shared corpus
	needs_codec zstd lz4
	vprobe --train -o dict "$shared/corpus/ndjson/messages.ndjson" >out
	tail -n 20 "$shared/corpus/ndjson/messages.ndjson" >last
	for c in zstd lz4; do
		vcompress -F $c -D dict -c last >packed
		vcompress -F $c -c last >plain
		[ "$(wc -c <packed)" -lt "$(wc -c <plain)" ]
		vdecompress -D dict -c packed | cmp - last
		status_is 1 vdecompress -c packed
	done
	# judged on the second half alone: the ranges don't meet
	grep -q 'from records 1 to 12500; judged on records 12501 to 25000' out
}

# bats test_tags=quick
@test "--train: too few, too short, uniform records are told apart" {
	seq 10000000 10000020 | status_is 1 vprobe --train -o dict
	grep -q 'too few records' stderr
	seq 10000 | status_is 1 vprobe --train -o dict
	grep -q 'too short' stderr
	for _ in $(seq 1000); do echo 'the same line again and again'; done >same
	status_is 1 vprobe --train -o dict same
	grep -q 'all records are the same' stderr
	status_is 1 vprobe --train same
	status_is 1 vprobe --train -o dict --records=nonsense same
	status_is 1 vprobe --train -o dict --records=len:u32le,raw same
	[ ! -e dict ]
}

# bats test_tags=quick
@test "--columns: width guessed or given, lossless in size, refused where there is none" {
	needs python3
	python3 - >rec <<-'END'
		import random, struct, sys
		random.seed(1)
		r = random.randrange
		for i in range(20000):
		    sys.stdout.buffer.write(struct.pack("<IHBBq", i * 3, r(50), 1, r(4), 1700000000000 + i * 37 + r(20)))
	END
	vprobe --columns --codecs=zstd:3,lz4 rec >out
	grep -q 'records of 16 bytes (guessed' out
	vprobe --columns --width 16 --codecs=zstd:3,lz4 --json rec >out.json
	python3 - <<-'END'
		import json
		r = json.load(open("out.json"))
		assert r["width"] == 16 and not r["guessed"]
		for c in r["choices"]:
		    assert c["columns"] > 1.2 * c["rows"], c
	END
	head -c 100000 /dev/urandom >noise
	status_is 1 vprobe --columns noise
	printf abc >short
	status_is 1 vprobe --columns --width 2 short
}

# bats test_tags=quick
@test "--blocks: an LZ4 frame's sums are its sizes" {
	needs python3
	needs_codec lz4
	seq 60000 >f
	vcompress -F lz4 -c f >f.lz4
	vprobe --blocks --json f.lz4 >out.json
	python3 - "$(wc -c <f)" "$(wc -c <f.lz4)" <<-'END'
		import json, sys
		raw, packed = map(int, sys.argv[1:])
		r = json.load(open("out.json"))
		b = r["lz4"]
		assert b["raw"] == raw and b["literals"] + b["matched"] == raw
		assert packed - 100 < b["packed"] < packed
		assert sum(b["match_lengths"].values()) == b["sequences"]
		assert r["retoken"] <= r["compared"] == b["packed"]
	END
	vprobe --blocks f.lz4 | grep -q '^  sequences '
}

# bats test_tags=quick
@test "--blocks: values and blocks need the caller's word" {
	needs_codec lzvolt
	seq 60000 >f
	vcompress -F lzvolt -c f >v
	status_is 1 vprobe --blocks v
	grep -q -e '-F lzvolt' stderr
	vprobe --blocks -F lzvolt v | grep -q '^  lzvolt    1, '
	head -c 1000 v >short
	status_is 1 vprobe --blocks -F lzvolt short
	grep -q 'offset' stderr
	status_is 1 vprobe --blocks -F gzip v
}

# bats test_tags=quick
@test "--blocks --each: a line a record, stored ones counted" {
	needs python3
	python3 - >recs <<-'END'
		import struct, sys
		for i in range(5):
		    block = bytes([0x1f]) + b"a" + struct.pack("<H", 1) + bytes([i]) + b"\x50" + b"bcdef"
		    sys.stdout.buffer.write(struct.pack("<I", len(block)) + block)
	END
	vprobe --blocks --each --records=len:u32le,size:max=1K,lz4 recs >out
	[ "$(grep -c '^  record ' out)" -eq 5 ]
	grep -q '^  record 3 at 34: lz4, 11 of 27 bytes, 1 sequences' out
	vprobe --blocks --each --json --records=len:u32le,size:max=1K,lz4 recs | wc -l | grep -q '^6$'
}
