//! `stepmark memory`: what is told is an event, recalled in every clone, and never in the way.

mod hooks;
mod recalling;
mod stores;
