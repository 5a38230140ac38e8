//! The Markdown of an artifact as blocks of a ticket: what it says, without anything that a tracker would act
//! on. Pure.

mod headings;
mod read;
mod sections;

pub(super) use headings::{may_be_linked, refers_to_ticket};
pub(super) use read::blocks;
pub(super) use sections::{
    TextSection, is_acceptance, is_same_title, is_story, is_tasks, opening, section, whole,
};
