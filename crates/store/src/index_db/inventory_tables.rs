//! The tables of the inventory: one for each CSV catalogue, with the columns of all its releases.

use crate::index_db::{Part, Table, table::Column, table::integer, table::text};

const POSITION: Column = integer("position", "Row of the CSV file, from 1");
const MORE: Column =
    text("more", "JSON object of the columns that are not listed here; NULL where there are none");
const MODULE: Column = text("module", "Module that it belongs to");
const PATH: Column = text("path", "Path as the catalogue gives it");
const STANDALONE: Column = text("standalone", "`true` where it can be started by itself");
const CANONICAL_ID: Column = text("canonical_id", "Name under which it is installed");
const NAME: Column = text("name", "Name");
const DISPLAY_NAME: Column = text("display_name", "Name for people");
const DESCRIPTION: Column = text("description", "What it is for");

const fn inventory(name: &'static str, about: &'static str, columns: &'static [Column]) -> Table {
    Table { name, part: Part::Inventory, about, columns, key: "position", indices: &[] }
}

/// All of them.
pub(super) const INVENTORY_TABLES: [Table; 6] = [
    inventory(
        "agents",
        "A row of `agent-manifest.csv`.",
        &[
            POSITION,
            NAME,
            DISPLAY_NAME,
            text("title", "What it is called in the project"),
            text("icon", "Its sign"),
            text("capabilities", "What it can do"),
            text("role", "Its role"),
            text("identity", "Who it is"),
            text("communication_style", "How it speaks"),
            text("principles", "What it holds to"),
            MODULE,
            PATH,
            CANONICAL_ID,
            MORE,
        ],
    ),
    inventory(
        "workflows",
        "A row of `workflow-manifest.csv`.",
        &[POSITION, NAME, DESCRIPTION, MODULE, PATH, CANONICAL_ID, STANDALONE, MORE],
    ),
    inventory(
        "skills",
        "A row of `skill-manifest.csv`.",
        &[
            POSITION,
            CANONICAL_ID,
            NAME,
            DESCRIPTION,
            MODULE,
            PATH,
            text("install_to_bmad", "`true` where its folder stays in `_bmad/`"),
            MORE,
        ],
    ),
    inventory(
        "tasks",
        "A row of `task-manifest.csv`.",
        &[POSITION, NAME, DISPLAY_NAME, DESCRIPTION, MODULE, PATH, STANDALONE, MORE],
    ),
    inventory(
        "tools",
        "A row of `tool-manifest.csv`.",
        &[POSITION, NAME, DISPLAY_NAME, DESCRIPTION, MODULE, PATH, STANDALONE, MORE],
    ),
    inventory(
        "files",
        "A row of `files-manifest.csv`.",
        &[
            POSITION,
            text("type", "Ending of the file's name"),
            NAME,
            MODULE,
            PATH,
            text("hash", "SHA-256 of the file's bytes, in hexadecimal digits"),
            MORE,
        ],
    ),
];
