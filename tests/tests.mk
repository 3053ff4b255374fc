# SPDX-License-Identifier: Apache-2.0
# Test, benchmark and fuzz targets.  One file a folder: tests/*.mk parts are
# included here so that each area keeps its own rules.
-include $(sort $(wildcard tests/*/*.mk))
