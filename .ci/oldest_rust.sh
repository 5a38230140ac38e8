#!/usr/bin/env bash
# Everything compiles with the Rust that Cargo.toml names as the oldest.
set -euo pipefail
cd "$(dirname "$0")/.."
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if rustc --version | grep -q "^rustc $oldest\."; then
    echo "Rust $oldest is the one at work here"
    exit
fi
rustup toolchain install "$oldest" --profile minimal --no-self-update
cargo "+$oldest" check --workspace --locked --target-dir target/oldest-rust
