#!/usr/bin/env bash
# Builds the book of docs/ into target/book.
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.5.4
if ! target/tools/bin/mdbook --version 2>/dev/null | grep -qx "mdbook v$version"; then
    CARGO_PROFILE_DEV_DEBUG=0 cargo install mdbook --version "$version" --locked --no-default-features --debug --quiet --root target/tools
fi
target/tools/bin/mdbook build docs
test -s target/book/index.html
