# SPDX-License-Identifier: Apache-2.0
# checkasm: decode kernels against the careful step; see checkasm.c.
#   make checkasm CHECKASM="--seed=N --kernel=NAME --bench"
#   make check-aarch64	the same built by the cross compiler, under qemu-user
checkasm_src := $(filter-out tests/checkasm/peer_%,$(wildcard tests/checkasm/*.c))
CHECKASM_PEER ?= lz4
CHECKASM_LIBS ?= -llz4
checkasm_inc := -Ifilters -Iasm -Iasm/$(ARCH) -Itests/checkasm
checkasm_all := $(checkasm_src) tests/checkasm/peer_$(CHECKASM_PEER).c \
	tests/checkasm/call_$(ARCH).S
CHECKASM ?=

$(BUILD)/tests/checkasm: $(checkasm_all) tests/checkasm/checkasm.h $(lzvolt_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(checkasm_inc) $(LDFLAGS) -o $@ \
		$(checkasm_all) $(lzvolt_obj) $(CHECKASM_LIBS)

checkasm: $(BUILD)/tests/checkasm
	$< $(CHECKASM)

quick:: $(BUILD)/tests/checkasm
	$(TALLY) checkasm $< --rounds=400 $(CHECKASM)

check:: $(BUILD)/tests/checkasm
	$(TALLY) checkasm $< --rounds=24000 $(CHECKASM)
	$(TALLY) checkasm-aarch64 sh tests/checkasm/aarch64 $(BUILD)

check-aarch64:
	sh tests/checkasm/aarch64 $(BUILD) --rounds=4000 $(CHECKASM)

.PHONY: checkasm check-aarch64

# Not in check: minutes.  MUTATE_ARCH="x86_64 aarch64" does both.
mutate:
	sh tests/checkasm/mutate $(BUILD) $(MUTATE_ARCH)

.PHONY: mutate
