# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: every tests/fuzz/fuzz_NAME.c, with libFuzzer, ASan and UBSan.
#   make fuzz FUZZ_SECONDS=60 [FUZZ="value lz4"]
# Each starts from $(BUILD)/fuzz/seeds/NAME and keeps what it finds in
# $(BUILD)/fuzz/corpus/NAME; a crash is left in $(BUILD)/fuzz.
FUZZ_CC ?= clang
FUZZ_SECONDS ?= 20
FUZZ ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
# The encoder is linked as it is: instrumented, clang takes minutes over it.
fuzz_lib := filters/lzvolt.c filters/lzvolt_abi.c $(wildcard filters/retoken*.c) $(asm_src) \
	tests/enc/ref_decode.c
fuzz_plain := $(call obj,$(wildcard filters/lzvolt_enc*.c))
fuzz_inc := -Ifilters -Iasm -Iasm/$(ARCH) -Itests/fuzz -Itests/enc -Itests/checkasm
fuzz_flags := -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
fuzz_seed_src := tests/fuzz/seeds.c tests/checkasm/gen.c tests/checkasm/vectors.c \
	tests/checkasm/peer_lz4.c

$(BUILD)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(wildcard tests/fuzz/*.h) $(fuzz_lib) \
		$(fuzz_plain) $(wildcard filters/lzvolt*.h asm/*.h asm/$(ARCH)/*.def)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(STD) $(WARN) $(fuzz_flags) $(fuzz_inc) -o $@ $< $(fuzz_lib) \
		$(fuzz_plain) -llz4

$(BUILD)/fuzz/seeds/done: $(fuzz_seed_src) $(lzvolt_obj)
	@mkdir -p $(foreach f,value lz4 $(FUZZ),$(@D)/$(f))
	$(CC) $(STD) $(WARN) $(CFLAGS) $(fuzz_inc) -o $(BUILD)/fuzz/seeds/make \
		$(fuzz_seed_src) $(lzvolt_obj) -llz4
	$(BUILD)/fuzz/seeds/make $(@D)/value $(@D)/lz4 $(or $(VOLTBOX_SHARED),../shared)
	@touch $@

fuzz-%: $(BUILD)/fuzz/fuzz_% $(BUILD)/fuzz/seeds/done
	@mkdir -p $(BUILD)/fuzz/corpus/$* $(BUILD)/fuzz/seeds/$*
	$< -max_total_time=$(FUZZ_SECONDS) -max_len=9000 -print_final_stats=1 $(FUZZ_FLAGS) \
		-artifact_prefix=$(BUILD)/fuzz/ $(BUILD)/fuzz/corpus/$* $(BUILD)/fuzz/seeds/$*

fuzz: $(FUZZ:%=fuzz-%)

.PHONY: fuzz
