# SPDX-License-Identifier: Apache-2.0
# liblzvolt as others use it: make lib, make install-lib.
#
# Both libraries offer the functions of lzvolt.h and nothing else: the shared
# one by the list in lzvolt.map, the static one by joining its objects and
# making every hidden name local, so that it can't collide with a program's.
LZVOLT_SO := liblzvolt.so.$(VERSION)
LZVOLT_SONAME := liblzvolt.so.1
OBJCOPY ?= objcopy
lzvolt_lib := $(BUILD)/lib

lib: $(lzvolt_lib)/liblzvolt.a $(lzvolt_lib)/$(LZVOLT_SO)

$(lzvolt_lib)/liblzvolt.a: $(lzvolt_obj)
	@mkdir -p $(@D)
	$(CC) -r -nostdlib -o $(lzvolt_lib)/lzvolt.o $^
	$(OBJCOPY) --localize-hidden $(lzvolt_lib)/lzvolt.o
	@rm -f $@
	$(AR) rcs $@ $(lzvolt_lib)/lzvolt.o

$(lzvolt_lib)/$(LZVOLT_SO): $(lzvolt_obj) filters/lzvolt.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(LZVOLT_SONAME) \
		-Wl,--version-script=filters/lzvolt.map -Wl,-z,defs -o $@ $(lzvolt_obj)
	@ln -sf $(LZVOLT_SO) $(lzvolt_lib)/$(LZVOLT_SONAME)
	@ln -sf $(LZVOLT_SONAME) $(lzvolt_lib)/liblzvolt.so

install-lib: lib
	install -d $(LIBDIR)/pkgconfig $(INCLUDEDIR) $(MANDIR)/man3 $(MANDIR)/man5
	install -m 644 filters/lzvolt.h $(INCLUDEDIR)/lzvolt.h
	install -m 644 $(lzvolt_lib)/liblzvolt.a $(LIBDIR)/liblzvolt.a
	install -m 755 $(lzvolt_lib)/$(LZVOLT_SO) $(LIBDIR)/$(LZVOLT_SO)
	ln -sf $(LZVOLT_SO) $(LIBDIR)/$(LZVOLT_SONAME)
	ln -sf $(LZVOLT_SONAME) $(LIBDIR)/liblzvolt.so
	sed 's,@PREFIX@,$(PREFIX),; s,@VERSION@,$(VERSION),' pkg/lzvolt.pc.in \
		>$(LIBDIR)/pkgconfig/lzvolt.pc
	install -m 644 man/liblzvolt.3 $(MANDIR)/man3/liblzvolt.3
	install -m 644 man/lzvolt.5 $(MANDIR)/man5/lzvolt.5

uninstall::
	rm -f $(INCLUDEDIR)/lzvolt.h $(LIBDIR)/liblzvolt.a $(LIBDIR)/liblzvolt.so* \
		$(LIBDIR)/pkgconfig/lzvolt.pc

.PHONY: install-lib
