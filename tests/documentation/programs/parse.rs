use stepmark_core::{document::Edit, document::KeyPath, document::Region, document::apply};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bytes = b"---\nstatus: draft # draft | done\ndelegation: {id: a}\n---\n# Notes\n";
    let edits = [
        Edit::Set { path: KeyPath::key("status"), value: "done".into() },
        Edit::Set { path: "delegation.id".parse()?, value: "b".into() },
    ];
    let edited = apply(bytes, &Region::Frontmatter, &edits)?;
    println!("{}", String::from_utf8(edited.bytes)?);
    Ok(())
}
