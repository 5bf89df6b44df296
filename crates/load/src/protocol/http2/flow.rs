//! Flow control: how much each side may send on a stream and on the connection.

use tare_wire::http2::{
    ConnectionError, ErrorCode, MAX_PAYLOAD_BYTES, MAX_STREAM, MAX_WINDOW_BYTES, push_data, push_window_update,
};

use super::Http2;
use super::stream::malformed;
use crate::input::request::RequestSet;

impl Http2 {
    /// Writes as much of the bodies as flow control permits: of each stream a frame at a time, so that none waits for
    /// the whole body of another.
    pub(super) fn upload(&mut self) {
        let mut has_sent = self.uploading > 0;
        while has_sent {
            has_sent = false;
            for (id, stream) in self.ids.iter().zip(&mut self.streams) {
                let window = usize::try_from(self.window_bytes.min(stream.window_bytes)).unwrap_or(0);
                let part = stream.unsent();
                let part = &part[..part.len().min(window).min(MAX_PAYLOAD_BYTES)];
                if part.is_empty() {
                    continue;
                }
                let is_last = part.len() == stream.unsent().len();
                push_data(&mut self.out, *id, part, is_last);
                let bytes = part.len();
                stream.sent_bytes += bytes;
                stream.window_bytes -= bytes as i64;
                self.window_bytes -= bytes as i64;
                self.uploading -= usize::from(is_last);
                has_sent = true;
            }
        }
    }

    pub(super) fn on_window_update(
        &mut self,
        stream: u32,
        bytes: u32,
        requests: &RequestSet,
    ) -> Result<(), ConnectionError> {
        if stream == 0 {
            return widen(&mut self.window_bytes, bytes);
        }
        let Some(at) = self.find(stream)? else { return Ok(()) };
        if let Err(error) = widen(&mut self.streams[at].window_bytes, bytes) {
            self.settle(at, malformed(error.code, error.what), requests);
        }
        Ok(())
    }
}

/// Gives the server room for what has come, in large pieces.
pub(super) fn return_room(out: &mut Vec<u8>, stream: u32, unreturned_bytes: &mut u32, bytes: u32) {
    *unreturned_bytes += bytes;
    if *unreturned_bytes >= MAX_WINDOW_BYTES / 2 {
        push_window_update(out, stream, std::mem::take(unreturned_bytes));
    }
}

fn widen(window_bytes: &mut i64, by: u32) -> Result<(), ConnectionError> {
    if by == 0 {
        return Err(ConnectionError::protocol("a window that grows by nothing"));
    }
    grow(window_bytes, by.into())
}

pub(super) fn grow(window_bytes: &mut i64, by: i64) -> Result<(), ConnectionError> {
    *window_bytes += by;
    if *window_bytes > MAX_STREAM.into() {
        return Err(ConnectionError::new(ErrorCode::FLOW_CONTROL, "a window of more than 2^31-1 bytes"));
    }
    Ok(())
}
