# SPDX-License-Identifier: Apache-2.0
# bench-codec: liblzvolt beside liblz4, memcpy and, with cargo, the Rust peers.
# CODEC_BENCH holds options of the program, e.g. CODEC_BENCH="--rows='*-4096'".
codec_bench_src := $(wildcard tests/bench/codec/*.c)

$(BUILD)/tests/codec: $(codec_bench_src) tests/bench/codec/bench.h $(BUILD)/liblzvolt.a
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Ifilters -Itests/bench/codec -o $@ \
		$(codec_bench_src) $(BUILD)/liblzvolt.a -llz4 -lm -ldl

bench:: bench-codec

bench-codec: $(BUILD)/tests/codec
	peers=$$(tests/peers/build.sh $(BUILD)/peers); \
	$(BUILD)/tests/codec $${peers:+--peers=$$peers} $(CODEC_BENCH)

.PHONY: bench bench-codec
