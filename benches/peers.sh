#!/bin/sh
# Measures typed reading and editing beside the peers of the field, in one run: python-frontmatter, gray-matter (Node),
# serde_yaml, gray_matter (Rust), yaml-edit. Needs python3 with venv, node and npm. `benches/peers.sh 5` makes 5 rounds
# instead of 3.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-3}
target=${CARGO_TARGET_DIR:-target}
data=$target/benches
bench=$target/release/stepmark-bench

cargo build --release --quiet -p stepmark -p stepmark-benches
mkdir -p "$data/node"
"$bench" project "$data/project-100000" 100000
[ -e "$data/python" ] || python3 -m venv "$data/python"
"$data/python/bin/pip" install --quiet python-frontmatter==1.3.0
npm install --silent --no-save --prefix "$data/node" gray-matter@4.0.3

"$bench" typed-reading "$data/project-100000" "$rounds" --python "$data/python/bin/python" --node "$data/node"
cargo bench --quiet -p stepmark-benches --bench in_memory
