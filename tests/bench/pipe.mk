# SPDX-License-Identifier: Apache-2.0
# The pipe benchmark: our commands and their peers in turn on the same input.
#   make bench-pipe PIPE_ARGS="--rows 'lz4*' --quick"
bench_pipe_src := $(wildcard tests/bench/pipe/*.c)
PIPE_ARGS ?=

$(BUILD)/tests/bench-pipe: $(bench_pipe_src) tests/bench/pipe/pipe.h
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Itests/bench/pipe -o $@ $(bench_pipe_src)

bench-pipe: all test-tools $(BUILD)/tests/bench-pipe
	PATH=$(abspath $(BUILD)):$(abspath $(BUILD))/tests:$$PATH $(BUILD)/tests/bench-pipe --dir $(BUILD)/bench $(PIPE_ARGS)

bench:: bench-pipe

.PHONY: bench-pipe
