# SPDX-License-Identifier: Apache-2.0
# Completions from the option tables; the pipeline under ThreadSanitizer.

completions:: all
	@mkdir -p completions
	$(BUILD)/voltbox --completion bash >completions/voltbox.bash
	$(BUILD)/voltbox --completion zsh >completions/_voltbox
	$(BUILD)/voltbox --completion fish >completions/voltbox.fish

install:: all
	install -d $(bash_to) $(zsh_to) $(fish_to)
	install -m 644 completions/voltbox.bash $(bash_to)/voltbox
	for a in $(APPLETS); do ln -sf voltbox $(bash_to)/$$a; done
	install -m 644 completions/_voltbox $(zsh_to)/_voltbox
	for a in voltbox $(APPLETS); do install -m 644 completions/voltbox.fish $(fish_to)/$$a.fish; done

uninstall::
	rm -f $(bash_to)/voltbox $(APPLETS:%=$(bash_to)/%) $(zsh_to)/_voltbox
	rm -f $(foreach a,voltbox $(APPLETS),$(fish_to)/$a.fish)

tsan:
	$(MAKE) BUILD=$(BUILD)/tsan CFLAGS="-O1 -g -fsanitize=thread -Dalways_inline=unused" all test-tools
	BUILD=$(BUILD)/tsan tests/cmd/tsan

.PHONY: tsan
