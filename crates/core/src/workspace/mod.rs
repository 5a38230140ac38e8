//! The edge: root, configuration, discovery, file system.
