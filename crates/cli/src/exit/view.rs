//! Failures to show something to look at.

use stepmark_view::observation::ObservationError;

use super::{Exit, Failure};
use crate::published_file::PublishFileError;

failures! {
    ObservationError: Io { Artifacts, Check, History };
}

impl From<PublishFileError> for Failure {
    fn from(error: PublishFileError) -> Self {
        match &error {
            PublishFileError::NoFile { .. } => Self::from_error(Exit::Usage, &error),
            PublishFileError::Foreign { .. } => Self::from_error(Exit::Usage, &error).with_help(
                "name another file; only an older one of this command, or an empty file, is replaced",
            ),
            PublishFileError::GitFolder { .. } => {
                Self::from_error(Exit::Usage, &error).with_help("name a file elsewhere")
            }
            PublishFileError::Write { .. } => {
                Self::from_error(Exit::Io, &error).with_help("its folder must take files")
            }
        }
    }
}
