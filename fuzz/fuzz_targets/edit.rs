//! Any bytes: a file, and behind its last NUL byte the decisions for four edits.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = stepmark_oracle::target::edit(bytes) {
        panic!("{}: {}", wrong.promise, wrong.found);
    }
});
