# SPDX-License-Identifier: Apache-2.0
# The encoder's tests: against a decoder written from the format alone.
enc_test_src := tests/enc/enc_test.c tests/enc/ref_decode.c

$(BUILD)/tests/enc_test: $(enc_test_src) tests/enc/ref_decode.h $(BUILD)/liblzvolt.a
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Ifilters -Itests/enc -o $@ \
		$(enc_test_src) $(BUILD)/liblzvolt.a

$(BUILD)/tests/largest_test: tests/enc/largest_test.c tests/enc/ref_decode.c \
		tests/enc/ref_decode.h $(BUILD)/liblzvolt.a
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Ifilters -Itests/enc -o $@ \
		tests/enc/largest_test.c tests/enc/ref_decode.c $(BUILD)/liblzvolt.a

check-enc: $(BUILD)/tests/enc_test
	$(TALLY) enc $(BUILD)/tests/enc_test

check:: check-enc

# Half a minute and 1.2 GB.
check-enc-largest: $(BUILD)/tests/largest_test
	$(BUILD)/tests/largest_test

check-long: check-enc-largest

.PHONY: check-enc check-enc-largest
