//! Saves an upload to a file, in the same way for both servers.

use std::io;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

/// Why an upload was not saved.
pub enum Refusal {
    /// The body ended early or exceeded the limit.
    Body,
    /// The file could not be written.
    Disk,
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Self {
        Self::Disk
    }
}

/// Writes a body into a temporary file as it arrives, and returns the file's length. The file is removed.
pub async fn save(mut body: impl Body<Data = Bytes> + Unpin) -> Result<u64, Refusal> {
    let temporary = tempfile::NamedTempFile::new()?;
    let mut file = File::from_std(temporary.reopen()?);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::Body)?;
        if let Ok(data) = frame.into_data() {
            file.write_all(&data).await?;
        }
    }
    file.flush().await?;
    Ok(file.metadata().await?.len())
}
