//! Credentials of trackers: from the environment, a command, or a file that nobody else reads; never from a
//! repository. No credential is ever shown: not in logs, errors, the ledger or the journal.

mod binding;
mod load;
#[cfg(test)]
mod cases;

pub use binding::AllowedDestinations;
pub use binding::{CredentialBinding, CredentialBindings};
pub use load::CredentialSource;
pub use load::{Credential, CredentialError, Secret, SecretError};
