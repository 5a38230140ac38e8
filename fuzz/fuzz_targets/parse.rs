//! Any bytes: read as a file with frontmatter and as a YAML file.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = stepmark_oracle::target::parse(bytes) {
        panic!("{}: {}", wrong.promise, wrong.found);
    }
});
