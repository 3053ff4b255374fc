# SPDX-License-Identifier: Apache-2.0
#
# voltbox.  make, make quick, make check, make bench, make demo, make install.
#
# Every .c and .S below cmd/, filters/ and asm/ is part of the program, so one
# compiler line over all of them builds it too.  What may know what is fixed
# by the include paths: cmd/ sees cmd/ and filters/, filters/ sees filters/
# and asm/, asm/ sees asm/.
#
#   BUILD=dir		where objects and programs go (build)
#   ARCH=x86_64|aarch64	whose kernels are built (this machine's)
#   WITHOUT="isal ..."	libraries to leave out: isal deflate brotli archive lzma bzip2
#   PREFIX, DESTDIR	where make install puts things

VERSION := 1.0.0
BUILD ?= build
ARCH ?= $(shell uname -m | sed 's/^arm64$$/aarch64/')
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra
STD := -std=gnu11 -D_GNU_SOURCE -pthread -DVERSION='"$(VERSION)"'
PIC := -fPIC -fvisibility=hidden

# A library that is left out gives its .c (NAME.c, NAME_*.c) to the file of the
# same name in filters/without/, which keeps the codec's row and says what is missing.
WITHOUT ?=

# Codec libraries are linked in where their archive is installed: binding a
# dozen shared ones takes longer than packing a small file.  SHARED=1 takes
# the shared ones, as distributions want it.  libzstd stays shared: only that
# build of it has worker threads in Debian; isa-l has no archive there, and
# libm's serves static programs only: filters/late.h loads these three when a
# function of theirs is called first, where they have the names that it knows.
# Code and constants share pages at their seams (noseparate-code): two segments
# less to map, 2 % of a start.  Nothing was gained by binding early (-z now) or by
# dropping unused sections; without position independence a start is 3 % shorter
# still, but it's worth more.
SHARED ?=
found = $(findstring /,$(shell $(CC) -print-file-name=$(1)))
archived = $(if $(SHARED),,$(call found,lib$(1).a))
late = zstd:libzstd.so.1 isal:libisal.so.2 math:libm.so.6
not_late := $(foreach l,$(late),$(if $(SHARED),$l,$(if $(call found,$(lastword $(subst :, ,$l))),,$l)))
lib = $(foreach l,$(1),$(if $(call archived,$l),-l:lib$l.a,-l$l))
isal_libs := -lisal
deflate_libs := $(call lib,deflate)
brotli_libs := $(call lib,brotlienc brotlidec brotlicommon)
lzma_libs := $(call lib,lzma)
bzip2_libs := $(call lib,bz2)
optional := isal deflate brotli archive lzma bzip2
with := $(filter-out $(WITHOUT),$(optional))
LIBS := -Wl,--as-needed $(call lib,lz4 z xxhash) $(foreach l,$(with),$($(l)_libs)) -lzstd -lm -ldl

left_out := $(foreach l,$(WITHOUT),filters/$(l).c $(wildcard filters/$(l)_*.c)) \
	$(foreach l,$(not_late),filters/$(firstword $(subst :, ,$l))_late.c)
cmd_src := $(wildcard cmd/*.c)
filters_src := $(filter-out $(left_out),$(wildcard filters/*.c)) \
	$(foreach l,$(WITHOUT),$(wildcard filters/without/$(l).c)) $(wildcard asm/digest*.c)
asm_src := $(filter-out asm/digest%,$(wildcard asm/*.c)) $(wildcard asm/$(ARCH)/*.S)
lzvolt_src := $(wildcard filters/lzvolt*.c) $(wildcard filters/retoken*.c) $(asm_src)

obj = $(patsubst %,$(BUILD)/%.o,$(1))
cmd_obj := $(call obj,$(cmd_src))
filters_obj := $(call obj,$(filters_src) $(asm_src))
lzvolt_obj := $(call obj,$(lzvolt_src))

all: $(BUILD)/voltbox

lib: $(BUILD)/liblzvolt.a

$(BUILD)/voltbox: $(cmd_obj) $(filters_obj)
	$(CC) $(CFLAGS) -pthread -Wl,-z,noseparate-code $(LDFLAGS) -o $@ $^ $(LIBS)
	@for a in vcompress vdecompress vprobe vconvert; do ln -sf voltbox $(BUILD)/$$a; done

$(BUILD)/liblzvolt.a: $(lzvolt_obj)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/cmd/%.c.o: cmd/%.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) -Icmd -Ifilters -MMD -MP -c -o $@ $<

$(BUILD)/filters/%.c.o: filters/%.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(PIC) -Ifilters -Iasm -MMD -MP -c -o $@ $<

# One inlined loop for each size of value: 5-10 % faster at -O3 than at -O2.
$(BUILD)/filters/lzvolt_enc_fast.c.o: CFLAGS += -O3 -fno-tree-vectorize

$(BUILD)/asm/%.c.o: asm/%.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(PIC) -Iasm -Iasm/$(ARCH) -MMD -MP -c -o $@ $<

$(BUILD)/asm/%.S.o: asm/%.S
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -Iasm -Iasm/$(ARCH) -MMD -MP -c -o $@ $<

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

include filters/lzvolt.mk
include tests/tests.mk

clean:
	rm -rf $(BUILD)

.PHONY: all lib clean

# What stands where.  The applets are links to one binary; the rules of the
# library stand below.
BINDIR = $(DESTDIR)$(PREFIX)/bin
LIBDIR = $(DESTDIR)$(PREFIX)/lib
INCLUDEDIR = $(DESTDIR)$(PREFIX)/include
MANDIR = $(DESTDIR)$(PREFIX)/share/man
SHAREDIR = $(DESTDIR)$(PREFIX)/share
APPLETS := vcompress vdecompress vprobe vconvert
MAN := $(wildcard man/*.[1-9])
bash_to = $(SHAREDIR)/bash-completion/completions
zsh_to = $(SHAREDIR)/zsh/site-functions
fish_to = $(SHAREDIR)/fish/vendor_completions.d

demo: all
	@sh pkg/demo $(BUILD)

install:: all
	install -d $(BINDIR) $(sort $(foreach m,$(MAN),$(MANDIR)/man$(subst .,,$(suffix $(m)))))
	install -m 755 $(BUILD)/voltbox $(BINDIR)/voltbox
	for a in $(APPLETS); do ln -sf voltbox $(BINDIR)/$$a; done
	for m in $(MAN); do install -m 644 $$m $(MANDIR)/man$${m##*.}/; done

uninstall::
	rm -f $(BINDIR)/voltbox $(APPLETS:%=$(BINDIR)/%)
	rm -f $(foreach m,$(MAN),$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m)))

.PHONY: demo install uninstall
