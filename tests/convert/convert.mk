# SPDX-License-Identifier: Apache-2.0
# Conversion: LZ4 blocks to lzvolt values and back.
# The encoder is linked as it is: with sanitizers it compiles for minutes.
convert_enc := $(call obj,$(wildcard filters/lzvolt_enc*.c))
convert_src := $(filter-out filters/lzvolt_enc%,$(wildcard filters/lzvolt*.c)) \
	$(wildcard filters/retoken*.c) $(asm_src)
convert_inc := -Ifilters -Iasm -Iasm/$(ARCH) -Itests/enc
SHARED := $(or $(VOLTBOX_SHARED),../shared)
convert_files = $(shell find $(SHARED)/corpus -type f -size +20k 2>/dev/null)

$(BUILD)/tests/retoken_test: tests/convert/retoken_test.c tests/enc/ref_decode.c \
		$(convert_src) $(convert_enc) $(wildcard filters/*.h asm/*.h)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(SANITIZE) $(convert_inc) -o $@ $(filter %.c %.S %.o,$^) -llz4

quick:: $(BUILD)/tests/retoken_test
	$(TALLY) retoken $< -n 1000

check:: $(BUILD)/tests/retoken_test
	$(TALLY) retoken-long $< -n 20000 -s 7 $(convert_files)

bench_shape = $(BUILD)/bench/shape-$(1)
$(call bench_shape,%):
	@mkdir -p $(@D)
	python3 $(SHARED)/corpus/make_shapes.py $* 2097152 > $@

$(BUILD)/bench/retoken_bench: tests/bench/convert/retoken_bench.c $(lzvolt_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Ifilters -o $@ $^ -llz4

convert_inputs = $(foreach s,records varied noise,$(s)=$(call bench_shape,$(s))) \
	flights=$(SHARED)/corpus/ndjson/flights.ndjson \
	log=$(SHARED)/corpus/log/kafka-state-change.log \
	csv=$(SHARED)/corpus/csv/zipcodes.csv \
	tar=$(SHARED)/corpus/source/python-stdlib.tar \
	elf=$(SHARED)/corpus/binary/python3.11.elf \
	text=$(SHARED)/corpus/text/lcet10.txt

bench-retoken: $(BUILD)/bench/retoken_bench \
		$(foreach s,records varied noise,$(call bench_shape,$(s)))
	$< $(convert_inputs)
.PHONY: bench-retoken
bench:: bench-retoken

$(BUILD)/tests/lzv_test: tests/convert/lzv_test.c $(convert_enc) \
		$(filter-out filters/lzvolt_enc%,$(filters_src)) $(asm_src) \
		$(wildcard filters/*.h asm/*.h)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(SANITIZE) $(convert_inc) -o $@ $(filter %.c %.S %.o,$^) $(LIBS)

quick:: $(BUILD)/tests/lzv_test
	$(TALLY) lzv $<
check:: $(BUILD)/tests/lzv_test
	$(TALLY) lzv $<

$(BUILD)/tests/mkrecords: tests/convert/mkrecords.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -o $@ $< -llz4 -lxxhash
test-tools: $(BUILD)/tests/mkrecords

# The record stream needs all of filters/ beside what other targets link.
$(BUILD)/fuzz/fuzz_records: tests/fuzz/fuzz_records.c $(filters_src) $(asm_src) \
		$(wildcard filters/*.h)
	@mkdir -p $(@D)
	$(or $(FUZZ_CC),clang) $(STD) $(WARN) -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all $(convert_inc) -o $@ \
		$< $(filter-out filters/lzvolt_enc%,$(filters_src)) \
		$(convert_enc) $(asm_src) $(LIBS)
$(BUILD)/fuzz/fuzz_records: $(convert_enc)

# libarchive reads hostile cpio, zip and tar; what we make of it is under test.
fuzz_archive_src := $(wildcard filters/archive*.c) filters/tar.c
$(BUILD)/fuzz/fuzz_archive: tests/fuzz/fuzz_archive.c $(fuzz_archive_src) \
		$(wildcard filters/archive*.h) filters/tar.h
	@mkdir -p $(@D)
	$(or $(FUZZ_CC),clang) $(STD) $(WARN) -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all $(convert_inc) -o $@ $< $(fuzz_archive_src) -ldl

$(BUILD)/fuzz/seeds/archive/done:
	@mkdir -p $(@D)
	-{ printf '\000'; ls Makefile tests/tally | cpio -o -H newc; } >$(@D)/newc
	-{ printf '\000'; ls Makefile tests/tally | cpio -o -H odc; } >$(@D)/odc
	-{ printf '\001'; zip -q - Makefile tests/tally; } >$(@D)/zip
	{ printf '\004'; tar -cf - Makefile tests/tally; } >$(@D)/tar
	{ printf '\006'; tar --format=pax -cf - Makefile tests/tally; } >$(@D)/pax
	@touch $@
# libarchive asks for what a name says it has; nobody touches it.
fuzz-archive: FUZZ_FLAGS = -malloc_limit_mb=8192
fuzz-archive: $(BUILD)/fuzz/seeds/archive/done

$(BUILD)/bench/convert_bench: tests/bench/convert/convert_bench.c $(filters_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Ifilters -o $@ $^ $(LIBS)

bench-convert: $(BUILD)/bench/convert_bench \
		$(foreach s,records varied noise,$(call bench_shape,$(s)))
	$< $(convert_inputs)
bench-convert-threads: all test-tools
	BUILD=$(BUILD) sh tests/bench/convert/threads
.PHONY: bench-convert bench-convert-threads
bench:: bench-convert

$(BUILD)/tests/mkkeys: tests/convert/mkkeys.c $(filters_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(LDFLAGS) -Ifilters -o $@ $^ $(LIBS)
test-tools: $(BUILD)/tests/mkkeys
