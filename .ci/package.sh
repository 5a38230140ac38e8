#!/usr/bin/env bash
# Packs the crates, installs the program from the unpacked archives, and runs it: what a user of the registry gets.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cargo package --workspace --exclude stepmark-benches --exclude stepmark-oracle --allow-dirty --no-verify --quiet --target-dir "$folder/target"
for archive in "$folder"/target/package/*.crate; do tar -xzf "$archive" -C "$folder"; done
patches=()
for name in stepmark-frontmatter stepmark-packs stepmark-model stepmark-store stepmark-core stepmark-sync stepmark-memory stepmark-view stepmark-mcp stepmark-cli; do
    patches+=(--config "patch.crates-io.$name.path=\"$(echo "$folder/$name"-[0-9]*)\"")
done
# With the profile of `cargo run`, whose crates of others are built already.
cargo install --debug --quiet --locked --path "$folder"/stepmark-[0-9]* --root "$folder/installed" --target-dir target "${patches[@]}"
"$folder/installed/bin/stepmark" --version
