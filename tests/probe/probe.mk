# SPDX-License-Identifier: Apache-2.0
# C tests of the probe (filters/probe*.c) and of the cost model.
PROBE_CORPUS = $(wildcard $(or $(VOLTBOX_SHARED),../shared)/corpus/*/*)

$(BUILD)/tests/probe-%: tests/probe/%.c tests/probe/test.h $(filters_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(LDFLAGS) -Ifilters -Itests/probe -o $@ $< \
		$(filters_obj) $(LIBS)

quick:: probe-check
check:: probe-check

probe-check: $(BUILD)/tests/probe-incompressible
	$(TALLY) probe $(BUILD)/tests/probe-incompressible $(PROBE_CORPUS)

.PHONY: probe-check
