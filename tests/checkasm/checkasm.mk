# SPDX-License-Identifier: Apache-2.0
# checkasm: decode kernels against the careful step; see checkasm.c.
#   make checkasm CHECKASM="--seed=N --kernel=NAME --bench"
#   make check-aarch64	the same built by the cross compiler, under qemu-user
checkasm_src := $(wildcard tests/checkasm/*.c) tests/checkasm/call_$(ARCH).S
checkasm_inc := -Ifilters -Iasm -Iasm/$(ARCH) -Itests/checkasm
CHECKASM ?=

$(BUILD)/tests/checkasm: $(checkasm_src) tests/checkasm/checkasm.h $(lzvolt_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(checkasm_inc) $(LDFLAGS) -o $@ \
		$(checkasm_src) $(lzvolt_obj) -llz4

checkasm: $(BUILD)/tests/checkasm
	$< $(CHECKASM)

quick:: $(BUILD)/tests/checkasm
	$(TALLY) checkasm $< --rounds=400 $(CHECKASM)

check:: $(BUILD)/tests/checkasm
	$(TALLY) checkasm $< --rounds=24000 $(CHECKASM)

.PHONY: checkasm
