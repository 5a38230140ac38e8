//! Kills, failing system calls, full disks and writers at once: a change happens as a whole or not at all.

mod full_disk;
mod injected_faults;
mod killed;
mod killed_together;
mod simultaneous_writers;
