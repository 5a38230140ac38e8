//! The columns of the catalogues.

/// A column of a catalogue whose values are known. A catalogue of an installer may have others, which stay empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// `canonicalId`: the name of a skill's folder.
    CanonicalId,
    /// `name`
    Name,
    /// `displayName`
    DisplayName,
    /// `title`
    Title,
    /// `icon`
    Icon,
    /// `capabilities`
    Capabilities,
    /// `role`
    Role,
    /// `identity`
    Identity,
    /// `communicationStyle`
    CommunicationStyle,
    /// `principles`
    Principles,
    /// `description`
    Description,
    /// `module`
    Module,
    /// `path`, with the name of the BMAD folder before it.
    Path,
    /// `standalone`: `true` or `false`.
    Standalone,
}

impl Column {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::CanonicalId,
        Self::Name,
        Self::DisplayName,
        Self::Title,
        Self::Icon,
        Self::Capabilities,
        Self::Role,
        Self::Identity,
        Self::CommunicationStyle,
        Self::Principles,
        Self::Description,
        Self::Module,
        Self::Path,
        Self::Standalone,
    ];

    /// The name in a header, which is also the key in a frontmatter.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CanonicalId => "canonicalId",
            Self::Name => "name",
            Self::DisplayName => "displayName",
            Self::Title => "title",
            Self::Icon => "icon",
            Self::Capabilities => "capabilities",
            Self::Role => "role",
            Self::Identity => "identity",
            Self::CommunicationStyle => "communicationStyle",
            Self::Principles => "principles",
            Self::Description => "description",
            Self::Module => "module",
            Self::Path => "path",
            Self::Standalone => "standalone",
        }
    }

    /// The column with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }
}
