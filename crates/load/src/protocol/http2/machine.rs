//! The streams of one connection, and what each frame of the server means to them.

use tare_sample::ErrorClass;
use tare_wire::http2::{
    ConnectionError, ErrorCode, Frame, MAX_STREAM, Settings, push_goaway, push_pong, push_reset, push_settings_ack,
};

use super::Http2;
use super::flow::{grow, return_room};
use super::stream::{Progress, Stream};
use crate::input::request::RequestSet;
use crate::problem::{Problem, escape};
use crate::protocol::connection::{Exchange, Returned, Step};

/// A request that came back unprocessed this often is not sent again, because its server accepts none. A request may
/// come back several times when many connections are near their end together.
const MOST_RETURNS: u8 = 16;

/// A server may leave so many answers to its pings and settings unread.
const MAX_UNREAD_ANSWERS: u32 = 100_000;

impl Http2 {
    pub(crate) fn under_way(&self) -> usize {
        self.streams.len() + self.waiting.len() + self.ended.len()
    }

    /// Whether no stream may be opened any more.
    pub(crate) const fn is_retired(&self) -> bool {
        self.is_leaving || self.next_id > MAX_STREAM
    }

    /// Whether nothing that follows has a meaning.
    pub(super) fn is_done(&self) -> bool {
        self.is_over || (self.is_retired() && self.streams.is_empty() && self.waiting.is_empty())
    }

    pub(super) fn accepts_stream(&self) -> bool {
        self.has_settings && self.streams.len() < self.max_streams && !self.is_retired()
    }

    pub(super) fn open_stream(&mut self, mut stream: Stream) {
        let id = self.next_id;
        self.next_id += 2;
        let says_table = std::mem::take(&mut self.owes_table_size);
        stream.parts.http2_head(&self.base).push(&mut self.out, id, says_table);
        stream.window_bytes = self.first_window_bytes;
        self.uploading += usize::from(!stream.unsent().is_empty());
        self.ids.push(id);
        self.streams.push(stream);
    }

    pub(super) fn open_waiting(&mut self) {
        // The first ones have waited for the connection, which has its settings only now, and not for a stream.
        let blocked_until = (self.next_id > 1).then_some(self.received_at);
        while self.accepts_stream()
            && let Some(mut stream) = self.waiting.pop_front()
        {
            let (times, left) = (&mut stream.exchange.times, Some(self.received_at));
            (times.sent, times.blocked_until, times.connected_at) = (left, blocked_until, left);
            self.open_stream(stream);
        }
        if self.is_retired() {
            self.send_back_waiting();
        }
    }

    pub(super) fn on_frame(&mut self, frame: Frame<'_>, requests: &RequestSet) -> Result<(), ConnectionError> {
        if self.is_done() {
            return Ok(());
        }
        if !self.has_settings && !matches!(frame, Frame::Settings(_)) {
            return Err(ConnectionError::protocol("a first frame that is not SETTINGS"));
        }
        if matches!(frame, Frame::Data { .. } | Frame::Headers { .. }) {
            self.pings = 0;
        }
        match frame {
            Frame::Data { stream, bytes, flow_bytes, is_last } => {
                return_room(&mut self.out, 0, &mut self.unreturned_bytes, flow_bytes);
                if let Some(at) = self.find(stream)? {
                    return_room(&mut self.out, stream, &mut self.streams[at].unreturned_bytes, flow_bytes);
                    let progress = self.streams[at].on_data(bytes, is_last, requests);
                    self.settle(at, progress, requests);
                }
            }
            Frame::Headers { stream, block, is_last } => {
                let at = self.find(stream)?;
                self.section.begin(at.is_some_and(|at| self.streams[at].reads_headers(requests)));
                // Those of a stream that was given up change the table too.
                self.decoder.decode(block, &mut self.section)?;
                if let Some(at) = at {
                    let progress = self.streams[at].on_section(&self.section, is_last, requests);
                    self.settle(at, progress, requests);
                }
            }
            Frame::Reset { stream, code } => {
                if let Some(at) = self.find(stream)? {
                    let text = format!("stream reset (RST_STREAM) by the server: {code}");
                    self.fail(at, Problem::new(ErrorClass::Read, text));
                }
            }
            Frame::Settings(settings) => return self.on_settings(settings),
            Frame::Ping(data) => {
                push_pong(&mut self.out, data);
                return self.count_answer();
            }
            Frame::GoAway { last_stream, code: ErrorCode::NO_ERROR, .. } => self.on_goodbye(last_stream),
            // It closes the connection, so no answer follows.
            Frame::GoAway { code, reason, .. } => {
                self.is_over = true;
                let quoted = if reason.is_empty() { String::new() } else { format!(": \"{}\"", escape(reason)) };
                let text = format!("connection ended (GOAWAY) by the server: {code}{quoted}");
                self.farewell = Some(Problem::new(ErrorClass::Read, text));
            }
            Frame::WindowUpdate { stream, bytes } => return self.on_window_update(stream, bytes, requests),
        }
        Ok(())
    }

    /// The place of an open stream; `None` of one that has ended.
    pub(super) fn find(&self, stream: u32) -> Result<Option<usize>, ConnectionError> {
        if stream.is_multiple_of(2) || stream >= self.next_id {
            return Err(ConnectionError::protocol("a frame of a stream that was not opened"));
        }
        Ok(self.ids.iter().position(|id| *id == stream).filter(|at| !self.streams[*at].exchange.is_over()))
    }

    pub(super) fn settle(&mut self, at: usize, progress: Progress, requests: &RequestSet) {
        let has_events = self.streams[at].exchange.subscription.is_some();
        if has_events {
            self.reportable.push_back(self.ids[at]);
        }
        match progress {
            Progress::More => {}
            Progress::Complete if has_events => {}
            Progress::Complete => {
                let (id, stream) = self.remove(at);
                if !stream.unsent().is_empty() {
                    push_reset(&mut self.out, id, ErrorCode::CANCEL);
                }
                let Stream { mut exchange, parts, .. } = stream;
                exchange.sent = Some(parts);
                self.ended.push_back(exchange.complete(requests, &self.base));
                self.open_waiting();
            }
            Progress::Failed(problem, code) => {
                push_reset(&mut self.out, self.ids[at], code);
                self.fail(at, problem);
            }
        }
    }

    fn fail(&mut self, at: usize, problem: Problem) {
        if let Some(events) = &mut self.streams[at].exchange.subscription {
            events.arrived.fail(problem);
            return self.reportable.push_back(self.ids[at]);
        }
        let step = self.remove(at).1.exchange.fail(problem);
        self.ended.push_back(step);
        self.open_waiting();
    }

    pub(super) fn remove(&mut self, at: usize) -> (u32, Stream) {
        let stream = self.streams.swap_remove(at);
        self.uploading -= usize::from(!stream.unsent().is_empty());
        (self.ids.swap_remove(at), stream)
    }

    fn on_settings(&mut self, settings: Settings) -> Result<(), ConnectionError> {
        self.has_settings = true;
        self.owes_table_size |= settings.shrinks_table;
        if let Some(max_streams) = settings.max_streams {
            self.max_streams = max_streams as usize;
        }
        if let Some(bytes) = settings.window_bytes {
            let change = i64::from(bytes) - std::mem::replace(&mut self.first_window_bytes, bytes.into());
            for stream in &mut self.streams {
                grow(&mut stream.window_bytes, change)?;
            }
        }
        push_settings_ack(&mut self.out);
        self.open_waiting();
        self.count_answer()
    }

    /// Counts an answer that the server has to read. One that sends without reading would fill the memory.
    fn count_answer(&mut self) -> Result<(), ConnectionError> {
        self.unread_answers += 1;
        if self.unread_answers > MAX_UNREAD_ANSWERS {
            let what = "pings or settings without end, whose answers are not read";
            return Err(ConnectionError::new(ErrorCode::ENHANCE_YOUR_CALM, what));
        }
        Ok(())
    }

    /// The server accepts no more streams, and will not process those above the last one.
    fn on_goodbye(&mut self, last_stream: u32) {
        self.is_leaving = true;
        while let Some(at) = self.ids.iter().position(|id| *id > last_stream) {
            let (_, stream) = self.remove(at);
            self.send_back(stream);
        }
        self.send_back_waiting();
    }

    fn send_back_waiting(&mut self) {
        while let Some(stream) = self.waiting.pop_front() {
            self.send_back(stream);
        }
    }

    /// Lets a request be sent again elsewhere, since it was not processed.
    fn send_back(&mut self, stream: Stream) {
        let Stream { mut exchange, parts, .. } = stream;
        if exchange.returns < MOST_RETURNS {
            exchange.returns += 1;
            exchange.forget_answer();
            return self.ended.push_back(Step::Returned(Returned { exchange, parts, redirected: None }));
        }
        let text = "connection ended (GOAWAY) with this request unprocessed, also when it was asked again; does the \
                    server take any?";
        self.ended.push_back(exchange.fail(Problem::new(ErrorClass::Read, text)));
    }

    /// Ends the connection because of what the server sent, and tells it why.
    pub(super) fn break_off(&mut self, error: ConnectionError) -> Problem {
        self.is_over = true;
        push_goaway(&mut self.out, error.code);
        Problem::new(ErrorClass::Protocol, format!("connection ended (GOAWAY) by this side: {error}"))
    }

    /// The next event that has come, or the end of a stream.
    pub(super) fn next_report(&mut self) -> Option<Step> {
        while let Some(id) = self.reportable.front().copied() {
            self.current = id;
            if let Some(step) = self.report_current() {
                return Some(step);
            }
            self.reportable.pop_front();
        }
        None
    }

    fn report_current(&mut self) -> Option<Step> {
        let at = self.place_of_current()?;
        match self.streams[at].exchange.next_report()? {
            Step::Broken(problem) => {
                let stream = self.remove(at).1;
                self.open_waiting();
                Some(stream.exchange.fail(problem))
            }
            step => Some(step),
        }
    }

    fn place_of_current(&self) -> Option<usize> {
        self.ids.iter().position(|id| *id == self.current)
    }

    /// The exchange of which something was reported last; `None` if its stream has ended.
    pub(crate) fn current_exchange(&mut self) -> Option<&mut Exchange> {
        let at = self.place_of_current()?;
        Some(&mut self.streams[at].exchange)
    }

    /// Ends the stream of which something was reported last.
    pub(crate) fn unsubscribe(&mut self) -> Option<Exchange> {
        let at = self.place_of_current()?;
        let (id, stream) = self.remove(at);
        if !stream.exchange.is_over() {
            push_reset(&mut self.out, id, ErrorCode::CANCEL);
        }
        self.open_waiting();
        Some(stream.exchange)
    }
}
