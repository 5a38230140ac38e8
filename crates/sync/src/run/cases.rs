//! What a run does, case by case, on a clock that stands still but for waits.
