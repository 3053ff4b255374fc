# SPDX-License-Identifier: Apache-2.0
# The encoder's tests: against a decoder written from the format alone.
enc_test_src := tests/enc/enc_test.c tests/enc/ref_decode.c

$(BUILD)/tests/enc_test: $(enc_test_src) tests/enc/ref_decode.h $(BUILD)/liblzvolt.a
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Ifilters -Itests/enc -o $@ \
		$(enc_test_src) $(BUILD)/liblzvolt.a

check-enc: $(BUILD)/tests/enc_test
	$(TALLY) enc $(BUILD)/tests/enc_test

check:: check-enc


.PHONY: check-enc
