# SPDX-License-Identifier: Apache-2.0
# liblzvolt as an outsider uses it.
quick::
	$(TALLY) ffi env CC="$(CC)" sh tests/ffi/run $(BUILD)

check::
	$(TALLY) ffi env CC="$(CC)" sh tests/ffi/run $(BUILD)
