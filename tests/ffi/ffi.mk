# SPDX-License-Identifier: Apache-2.0
# liblzvolt as an outsider uses it.
# A program built without sanitizers can't link what was built with them.
ifeq (,$(findstring sanitize,$(CFLAGS)))
quick::
	$(TALLY) ffi env CC="$(CC)" sh tests/ffi/run $(BUILD)

check::
	$(TALLY) ffi env CC="$(CC)" sh tests/ffi/run $(BUILD)
endif
