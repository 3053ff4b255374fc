# SPDX-License-Identifier: Apache-2.0
# C tests of the probe (filters/probe*.c) and of the cost model.
PROBE_CORPUS = $(wildcard $(or $(VOLTBOX_SHARED),../shared)/corpus/*/*)
PROBE_TESTS := incompressible stats_test cost_test blocks_test

$(BUILD)/tests/probe-%: tests/probe/%.c tests/probe/test.h $(filters_obj)
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(LDFLAGS) -Ifilters -Itests/probe -o $@ $< \
		$(filters_obj) $(LIBS)

quick:: probe-check
check:: probe-check $(if $(filter brotli,$(with)),$(BUILD)/tests/probe-loops)

probe-check: $(PROBE_TESTS:%=$(BUILD)/tests/probe-%)
	$(TALLY) probe $(BUILD)/tests/probe-incompressible $(PROBE_CORPUS)
	$(TALLY) probe-stats $(BUILD)/tests/probe-stats_test $(PROBE_CORPUS)
	$(TALLY) probe-cost $(BUILD)/tests/probe-cost_test
	$(TALLY) probe-blocks $(BUILD)/tests/probe-blocks_test

bench:: bench-scan

bench-scan: all $(BUILD)/tests/probe-stats_test
	$(BUILD)/tests/probe-stats_test -b
	PATH=$(abspath $(BUILD)):$$PATH tests/probe/tee-speed 1024 5

.PHONY: probe-check bench-scan
