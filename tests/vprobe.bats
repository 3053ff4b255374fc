#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# vprobe seen from outside: figures, verdicts, status, the pipe, choices.

load helper

# field NAME: the value of one field of each JSON line on stdin
field() {
	python3 -c '
import json, sys
for line in sys.stdin:
    v = json.loads(line)
    for k in sys.argv[1].split("."):
        v = v[int(k)] if k.isdigit() else v[k]
    print(v)' "$1"
}

noise() {
	head -c "$1" /dev/urandom
}

# bats test_tags=quick
@test "entropy of order 0 and 1 is python's on the corpus" {
	needs python3
	needs_shared corpus
	for f in "$shared"/corpus/{text/alice29.txt,csv/population.csv,binary/population.sqlite,json/us-10m.json}; do
		vprobe --codecs=lz4 --json "$f" >out.json
		python3 - "$f" out.json <<-'END'
			import collections, json, math, sys
			d = open(sys.argv[1], "rb").read()
			r = json.load(open(sys.argv[2]))
			def h(c):
			    n = sum(c.values())
			    return -sum(v / n * math.log2(v / n) for v in c.values())
			h0 = h(collections.Counter(d))
			pairs = collections.Counter(zip(d, d[1:]))
			h1 = h(pairs) - h(collections.Counter(d[:-1]))
			assert abs(r["order0"] - h0) < 0.001, (r["order0"], h0)
			assert abs(r["order1"] - h1) < 0.001, (r["order1"], h1)
			assert r["order0_error"] == 0 and r["size"] == len(d) == r["scanned"]
			assert r["distinct"] == len(set(d))
		END
	done
}

# bats test_tags=quick
@test "-q: 0 worth packing, 3 not, 1 trouble" {
	needs python3
	needs_shared corpus
	for f in "$shared"/corpus/{text,csv,json,log,ndjson,binary,source,html}/*; do
		status_is 0 vprobe -q "$f"
	done
	for f in "$shared"/corpus/packed/*.{jpeg,png,zip,gz,zst}; do
		status_is 3 vprobe -q "$f"
	done
	noise 300000 >noise
	status_is 3 vprobe -q noise
	status_is 3 vprobe -q <noise
	seq 50000 | status_is 0 vprobe -q
	printf x | status_is 3 vprobe -q
	printf 'hello hello' | status_is 3 vprobe -q
	# short repeats only: 4-byte words out of 256, in random order
	head -c 1024 noise >words
	python3 - <<-'END'
		import random
		random.seed(1)
		d = open("words", "rb").read()
		w = [d[i:i + 4] for i in range(0, 1024, 4)]
		open("worded", "wb").write(b"".join(random.choice(w) for _ in range(100000)))
	END
	status_is 0 vprobe -q worded
	status_is 1 vprobe -q absent
	status_is 1 vprobe -q .
	status_is 3 vprobe -q /dev/null
}

# The same code decides in vcompress: what it stores, vprobe counts.
# bats test_tags=quick
@test "blocks that packing would store are counted" {
	seq 10000000 10008191 >part
	[ "$(wc -c <part)" -eq 73728 ]
	head -c 65536 part >mixed
	noise 131072 >>mixed
	vprobe mixed | grep -q '^  packing   2 of 3 blocks of 64 KiB would be stored as they are$'
	[ "$(vprobe --json mixed | field noise_blocks)" = 2 ]
}

# bats test_tags=quick
@test "-q says nothing" {
	noise 100000 >noise
	run vprobe -q noise
	[ "$status" -eq 3 ]
	[ -z "$output" ]
}

# Wall time says nothing on a machine that is busy with other things; CPU time
# always does.
@test "-q on a file of 10 GiB takes less than 50 ms" {
	local TIMEFORMAT='%3R %3U %3S' load
	truncate -s 10G big
	for _ in $(seq 20); do
		{ time vprobe -q big; } 2>&1
	done | sort -n >times
	awk '$2 + $3 > worst { worst = $2 + $3 } END { exit worst >= 0.05 }' times ||
		fail "CPU time: $(cat times)"
	read -r load _ </proc/loadavg
	[ "${load%.*}" -ge "$(nproc)" ] || awk 'NR == 1 { exit $1 >= 0.05 }' times ||
		fail "wall time: $(cat times)"
}

# bats test_tags=quick
@test "verdicts: mixed with the cut within one window" {
	seq -f 'a line of text, more or less the same: %g' 20000 >lines
	head -c 400000 lines >mixed
	noise 600000 >>mixed
	vprobe --json mixed >out.json
	[ "$(field verdict <out.json)" = mixed ]
	cut=$(field parts.1.offset <out.json)
	window=$(field windows.0.size <out.json)
	[ "$cut" -ge $((400000 - window)) ] && [ "$cut" -le $((400000 + window)) ] ||
		fail "cut at $cut, window $window"
	[ "$(field parts.0.verdict <out.json)" = compress ]
	[ "$(field parts.1.verdict <out.json)" = store ]
	vprobe mixed | grep -q "cut *bytes 0 to $cut: compress"
}

# bats test_tags=quick
@test "a repeat that order 0 can't see is compress, not random" {
	noise 100000 >once
	cat once once once once once once >six
	[ "$(vprobe --json six | field verdict)" != store ]
	status_is 0 vprobe -q six
}

# bats test_tags=quick
@test "formats are named by content, layers outermost first" {
	needs_codec zstd gzip brotli
	needs_codec lzv
	echo '{"a":1}' >t.json
	tar -cf t.tar t.json
	vcompress -F gzip -c t.tar >a
	vcompress -F zstd -c a >b
	vprobe b | grep -q '^b: zstd > gzip > tar archive,'
	vprobe <b | grep -q '^(standard input): zstd > gzip > tar archive,'
	vcompress -F lzv -c t.tar | vprobe | grep -q ': lzv > tar archive,'
	vprobe t.json | grep -q '^t.json: JSON text,'
	cp "$(command -v voltbox)" elf
	vprobe elf | grep -q '^elf: ELF program,'
	seq 100000 | vcompress -F brotli -c >c
	vprobe c | grep -q '^c: possibly brotli,'
	vprobe --json c | grep -q '"name":"brotli","packed":true,"certain":false'
	noise 100000 >noise
	vprobe noise | grep -q '^noise: data,'
}

@test "brotli is never called possible on random bytes" {
	for i in $(seq 200); do
		noise 3000 >"r$i"
	done
	[ "$(vprobe r* | grep -c brotli)" -eq 0 ]
}

@test "every packed vector of a format with a magic is named" {
	needs_shared vectors
	for c in zstd lz4 gzip xz bzip2 lzip; do
		needs_codec "$c"
		for f in "$shared/vectors/$c"/self__*; do
			vprobe "$f" | head -n 1 | grep -q ": $c" ||
				fail "$f: $(vprobe "$f" | head -n 1)"
		done
	done
}

# bats test_tags=quick
@test "--tee passes bytes through unchanged, report on standard error" {
	seq 300000 >in
	noise 12000000 >>in
	want=$(sha <in)
	[ "$(tail -n +1 in | vprobe --tee 2>err | sha)" = "$want" ]
	grep -q '(standard input): text' err
	[ "$(vprobe --tee <in 2>err | sha)" = "$want" ]
	tail -n +1 in | vprobe --tee >out 2>err
	[ "$(sha <out)" = "$want" ]
	vprobe --tee <in >out2 2>err
	[ "$(sha <out2)" = "$want" ]
	printf 'x' | vprobe --tee 2>err | cmp - <(printf 'x')
	vprobe --tee </dev/null 2>err | cmp - /dev/null
}

# bats test_tags=quick
@test "--tee: slow pipes, closed pipes, full devices" {
	seq 100000 >in
	[ "$(dribble <in 2>/dev/null | vprobe --tee 2>err | sha)" = "$(sha <in)" ] ||
		[ "$( (head -c 1000 in; sleep 0.1; tail -c +1001 in) |
			vprobe --tee 2>err | sha)" = "$(sha <in)" ]
	status_is 1 sh -c 'vprobe --tee <in >/dev/full'
	run bash -c 'seq 1000000 | vprobe --tee 2>err | head -c 10 >/dev/null; echo ${PIPESTATUS[1]}'
	[ "$output" != 0 ]
	[ ! -s err ] || ! grep -q "can't" err
}

# bats test_tags=quick
@test "--tee -q: the status alone" {
	noise 200000 >noise
	run bash -c 'vprobe --tee -q <noise >out; echo $?'
	[ "$output" = 3 ]
	cmp noise out
	seq 100000 | vprobe --tee -q >out
}

# bats test_tags=quick
@test "--for never recommends packing where an eighth isn't saved" {
	needs_shared corpus
	for goal in transport storage read-heavy web-static; do
		vprobe --for "$goal" --codecs=zstd:1,lz4,gzip:1 "$shared/corpus/packed/fireworks.jpeg" |
			grep -q '^  leave it as it is' || fail "$goal"
	done
}

# bats test_tags=quick
@test "--for: break-even is V(r-1)/r of the row, the command runs" {
	needs python3
	seq 60000 >'a file'	# 348,894 bytes
	vprobe --for transport --bandwidth 1Mbit --codecs=zstd:1,lz4 --json 'a file' >out.json
	python3 - out.json <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))
		assert r["bandwidth"] == 125000
		for c in r["choices"]:
		    if c["choice"] == "store":
		        assert abs(c["cost"] - 348894 / 125000) < 1e-6, c
		        continue
		    v, k = c["pack_speed"], c["ratio"]
		    assert abs(c["break_even"] - v * (k - 1) / k) < 1e-3 * v, c
		    t = 348894 / c["pack_speed"] + 348894 / (k * 125000) + 348894 / c["unpack_speed"]
		    assert abs(c["cost"] - t) < 1e-3 * t, (c, t)
		    assert c["cost_low"] <= c["cost"] <= c["cost_high"]
		assert r["best"] != "store"
	END
	command=$(vprobe --for transport --bandwidth 1Mbit --codecs=zstd:1 'a file' |
		sed -n 's/^  run: //p')
	[ "$command" = "vcompress -F zstd -1 'a file'" ]
	eval "$command"
	[ -s 'a file.zst' ]
}

# bats test_tags=quick
@test "--for read-heavy rules out what packs below the write budget" {
	seq 60000 >f
	vprobe --for read-heavy --write-budget 100GB/s --codecs=zstd:1,lz4 f >out
	[ "$(grep -c 'packs too slowly' out)" -eq 2 ]
	grep -q '^  leave it as it is' out
}

# bats test_tags=quick
@test "terms that are none are refused" {
	seq 1000 >f
	status_is 1 vprobe --bandwidth 1Gbit f
	status_is 1 vprobe --for transport --bandwidth 1 f
	status_is 1 vprobe --for transport --bandwidth 0Mbit f
	status_is 1 vprobe --for transport --bandwidth nanMbit f
	status_is 1 vprobe --for transport --reads 3 f
	status_is 1 vprobe --for storage --reads -1 f
	status_is 1 vprobe --for storage --price cpu=x f
	status_is 1 vprobe --for storage --price gold=1 f
	status_is 1 vprobe --for web --write-budget 1MB/s f
	status_is 1 vprobe --for transport --rtt 10 f
	status_is 1 vprobe --for nothing f
	status_is 1 vprobe --codecs=zstd:99 f
	status_is 1 vprobe --codecs=nothing f
	status_is 1 vprobe --codecs=zstd:1-x f
	status_is 1 vprobe --codecs=3 f
	status_is 1 vprobe --tee f
	status_is 1 vprobe --for transport /dev/null
}

# The real ratio is that of packing the whole file with the same library.
@test "estimated ratios are within 10 % on 90 % of the corpus" {
	needs python3
	needs_shared corpus
	needs_codec zstd lz4 gzip brotli
	local list="zstd:3 lz4:1 gzip:6 brotli:5"
	for f in "$shared"/corpus/*/*; do
		[ "$(stat -Lc %s "$f")" -gt 100000 ] || continue
		vprobe --json --codecs="${list// /,}" "$f" >est
		for c in $list; do
			printf '%s %s %s\n' "$c" "$(stat -Lc %s "$f")" \
				"$(vcompress -F "${c%:*}" "-${c#*:}" -c "$f" | wc -c)"
		done >real
		python3 - est real "$f" <<-'END' >>table
			import json, sys
			e = {x["choice"]: x["ratio"] for x in json.load(open(sys.argv[1]))["estimates"]}
			for line in open(sys.argv[2]):
			    c, raw, packed = line.split()
			    real = int(raw) / int(packed)
			    print(c, round(e[c.replace(":", " ")] / real - 1, 4), sys.argv[3])
		END
	done
	awk '{ n[$1]++; good[$1] += $2 >= -0.1 && $2 <= 0.1 }
		END { for (c in n) {
			printf "%s %d of %d within 10 %%\n", c, good[c], n[c]
			if (good[c] < n[c] * 0.9) bad = 1
		}
		exit bad }' table >&2
}
