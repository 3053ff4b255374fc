# SPDX-License-Identifier: Apache-2.0
# C tests of the codecs: every face of every row of filter_table.
FILTERS_TESTS := codecs vectors sources digest
FILTERS_SHARED = $(or $(VOLTBOX_SHARED),../shared)

$(BUILD)/tests/filters-%: tests/filters/%.c tests/filters/kit.c tests/filters/kit.h \
		$(filters_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(LDFLAGS) -Ifilters -Iasm -Itests/filters -o $@ $< \
		tests/filters/kit.c $(filters_obj) $(LIBS)

quick:: filters-check
check:: filters-check

filters-check: $(FILTERS_TESTS:%=$(BUILD)/tests/filters-%)
	$(TALLY) filters-sources $(BUILD)/tests/filters-sources
	$(TALLY) filters-digest $(BUILD)/tests/filters-digest
	$(TALLY) filters-codecs $(BUILD)/tests/filters-codecs
	$(TALLY) filters-vectors $(BUILD)/tests/filters-vectors $(FILTERS_SHARED)/vectors

.PHONY: filters-check
