#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds libpeers.so (the reference crate lzvolt and lz4_flex behind C names)
# and prints its path.  usage: tests/peers/build.sh [OUTPUT_DIR]
# Exit status 3: there is no cargo here; the peers are left out then.
set -eu
here=$(dirname "$0")
out=${1:-build/peers}
command -v cargo >/dev/null || { echo "peers: no cargo, left out" >&2; exit 3; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
CARGO_TARGET_DIR="$out/cargo" cargo build --quiet --release --manifest-path "$here/Cargo.toml" >&2
cp "$out/cargo/release/libpeers.so" "$out/libpeers.so"
echo "$out/libpeers.so"
