//! What opens a tracker: from the environment, a command, or a file that nobody else reads; never from configuration. No credential
//! is ever shown: not in logs, errors, the ledger or the journal.

mod secret;
mod source;
mod load;
#[cfg(test)]
mod cases;

pub use load::{Credential, CredentialError};
pub use secret::{Secret, SecretError};
pub use source::CredentialSource;
