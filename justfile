# Every recipe is one line, so that nobody needs `just` to run it.

# Measures stepmark beside bare file system work and git
bench:
    benches/run.sh

# Measures stepmark beside python-frontmatter, gray-matter, serde_yaml and yaml-edit in the same run
bench-peers:
    benches/peers.sh

# Writes the pages of the rules in docs/rules again
rule-pages:
    STEPMARK_WRITE_PAGES=1 cargo test -p stepmark-model --test rule_pages

# Breaks conditions of the rules and transitions one at a time and tells which no test notices (docs/mutation-check.md)
mutants:
    benches/mutants.py

# Kills a worker of sync at every request and lets everything go wrong with a server, for some twenty minutes
soak:
    cargo test -p stepmark-sync --test github -- --ignored --nocapture --test-threads 1 soak_

# The figures of sync that need a tracker (docs/benchmarks.md)
figures:
    cargo test --release -p stepmark-sync --test github -- --ignored --nocapture --test-threads 1 figures_
