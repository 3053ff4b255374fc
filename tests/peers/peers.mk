# SPDX-License-Identifier: Apache-2.0
# make check-reference: our decoder and the reference crate's on a million
# damaged values; skipped where there is no cargo.
REFERENCE_VALUES ?= 1000000
reference_src := tests/peers/reference.c tests/checkasm/gen.c tests/checkasm/peer_lz4.c

$(BUILD)/tests/reference: $(reference_src) tests/checkasm/checkasm.h $(lzvolt_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(checkasm_inc) -o $@ $(reference_src) $(lzvolt_obj) \
		-llz4 -ldl

check-reference: $(BUILD)/tests/reference
	@lib=$$(sh tests/peers/build.sh $(BUILD)/peers) || \
		{ echo "check-reference: skipped: no cargo"; exit 0; }; \
	$(BUILD)/tests/reference $$lib $(REFERENCE_VALUES)

# make check-peers: blocks and frames by lz4_flex, pierrec/lz4 and python-lz4.
check-peers: all test-tools
	BUILD=$(BUILD) $(BATS) --tap tests/long/peers.bats

.PHONY: check-reference check-peers
