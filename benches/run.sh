#!/bin/sh
# Measures stepmark beside bare file system work and git, and prints each figure with its target. Needs git; with npm
# also a real BMAD 6.0.4 project is measured. `benches/run.sh 5` makes 5 rounds instead of 11.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-11}
target=${CARGO_TARGET_DIR:-target}
data=$target/benches
bench=$target/release/stepmark-bench

cargo build --release --quiet -p stepmark -p stepmark-benches
mkdir -p "$data"
for count in 10000 100000; do "$bench" project "$data/project-$count" "$count"; done

"$bench" manifest "$data/project-100000" "$rounds"
"$bench" growth "$data/project-10000" "$data/project-100000" "$rounds"
"$bench" project "$data/resume-10000" 10000
"$bench" resume "$data/resume-10000" $((rounds * 4))
"$bench" project "$data/staged-10000" 10000
"$bench" staged "$data/staged-10000" $((rounds * 4))
"$bench" project "$data/checked-100000" 100000
"$bench" check "$data/checked-100000" "$rounds"
"$bench" project "$data/projected-10000" 10000
"$bench" projections "$data/projected-10000" "$rounds"
"$bench" project "$data/asked-10000" 10000
"$bench" query "$data/asked-10000" $((rounds * 4))
"$bench" project "$data/page-2000" 2000
"$bench" page "$data/page-2000" $((rounds * 4))
"$bench" completion "$data/project-10000" $((rounds * 4))

first=$(cd "$data/project-100000" && find docs -name 'prd-*.md' | sort | head -n 1)
set -- "$data/project-100000=$first"
if benches/bmad.sh "$data/bmad-6.0.4"; then
    set -- "$@" "$data/bmad-6.0.4=_bmad-output/planning-artifacts/prd.md"
else
    echo "no BMAD 6.0.4 project: its installation failed, see above" >&2
fi
"$bench" start $((rounds * 20)) "$@"
