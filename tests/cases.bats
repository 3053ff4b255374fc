#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The shared cases: defects that users of other tools reported, which we don't have.

load helper

# bats test_tags=quick
@test "no case falls short" {
	needs_shared cases
	cp -r "$shared/cases" cases
	chmod -R u+w cases
	bash cases/run-cases.sh
}
