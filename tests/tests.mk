# SPDX-License-Identifier: Apache-2.0
#
# Test, benchmark and fuzz targets.
#
#   make quick	under a minute: the tests whose names carry the tag quick
#   make check	every test; ends with "N passed, N failed, N skipped"
#   make bench	the benchmarks, under 15 minutes
#   make check-long	20 GiB streams through each fast codec, the largest value; minutes
#   make check-peers	LZ4 by lz4_flex, Go's pierrec and python-lz4, fetched and built here
#   make check-spark	vconvert --shard in Spark's tasks, on 1 GB; installs pyspark below BUILD
#
# Each area keeps its rules in tests/AREA/AREA.mk and adds to quick::, check::
# and bench:: there.  A recipe runs its test as "$(TALLY) NAME COMMAND...",
# which counts what the command did and lets the next test run; the last rule
# below prints the sum and fails if any test did.

TALLY = @sh tests/tally $(BUILD)/tally
TEST_TOOLS := gen dribble mangle peak
test_tools := $(TEST_TOOLS:%=$(BUILD)/tests/%)
BATS ?= bats
# bats needs GNU parallel for more than one job
BATS_JOBS ?= $(shell command -v parallel >/dev/null 2>&1 && \
	echo --jobs $$(getconf _NPROCESSORS_ONLN))
RUN_BATS = env BUILD=$(BUILD) $(BATS) --tap $(BATS_JOBS)

$(BUILD)/tests/%: tests/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(LDFLAGS) -o $@ $<

test-tools: $(test_tools)

check:: all test-tools
	@rm -f $(BUILD)/tally
quick:: all test-tools
	@rm -f $(BUILD)/tally

# Inlining by force makes a sanitized compile of the encoder take minutes.
SANITIZE := -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all \
	-Dalways_inline=unused

-include $(sort $(wildcard tests/*/*.mk))

quick::
	$(TALLY) bats $(RUN_BATS) --filter-tags quick tests
	@sh tests/tally $(BUILD)/tally

check::
	$(TALLY) bats $(RUN_BATS) tests
	@sh tests/tally $(BUILD)/tally

# What a build with sanitizers should run: all of the program, in less depth.
check-sanitized: all test-tools
	@rm -f $(BUILD)/tally
	@$(MAKE) --no-print-directory filters-check probe-check
	$(TALLY) bats $(RUN_BATS) --filter-tags quick tests
	$(TALLY) damage $(RUN_BATS) tests/damage.bats tests/streams.bats tests/files.bats
	@sh tests/tally $(BUILD)/tally

check-long: all test-tools
	BUILD=$(BUILD) $(BATS) --tap tests/long/stream.bats

check-spark: all test-tools
	BUILD=$(BUILD) $(BATS) --tap tests/long/spark.bats

.PHONY: test-tools quick check check-sanitized check-long check-spark bench
