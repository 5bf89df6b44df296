//! Frames of a server as bytes, in pieces of any size.

use tare_wire::http2::{
    ConnectionError, Decoder, ErrorCode, Frame, FrameReader, Section, Settings, push_data, push_goaway, push_ping,
    push_pong, push_preface, push_reset, push_settings_ack, push_window_update,
};

/// What each frame says, in words, up to the first error.
fn read(bytes: &[u8]) -> (Vec<String>, Option<ErrorCode>) {
    let in_pieces = |size: usize| {
        let (mut reader, mut seen) = (FrameReader::default(), Vec::new());
        let mut feed = |piece| {
            reader.feed(piece, |frame| {
                seen.push(format!("{frame:?}"));
                Ok::<(), ConnectionError>(())
            })
        };
        let error = bytes.chunks(size).find_map(|piece| feed(piece).err());
        (seen, error.map(|error| error.code))
    };
    let whole = in_pieces(bytes.len().max(1));
    for size in [1, 2, 7, 10] {
        assert_eq!(in_pieces(size), whole, "in pieces of {size}");
    }
    whole
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&[a, b, c, kind, flags][..], &stream.to_be_bytes(), payload].concat()
}

#[test]
fn frames_are_what_their_bytes_say() {
    for (bytes, expected) in [
        (frame(0, 1, 5, b"ab"), Frame::Data { stream: 5, bytes: b"ab", flow_bytes: 2, is_last: true }),
        (frame(0, 8, 5, b"\x01ab"), Frame::Data { stream: 5, bytes: b"a", flow_bytes: 3, is_last: false }),
        (frame(0, 0x41, 5, b""), Frame::Data { stream: 5, bytes: b"", flow_bytes: 0, is_last: true }),
        (frame(1, 4, 3, b"\x88"), Frame::Headers { stream: 3, block: b"\x88", is_last: false }),
        (frame(1, 0x2d, 3, b"\x01\0\0\0\0\x10\x88x"), Frame::Headers { stream: 3, block: b"\x88", is_last: true }),
        (frame(3, 0, 7, b"\0\0\0\x08"), Frame::Reset { stream: 7, code: ErrorCode::CANCEL }),
        (frame(4, 0, 0, b""), Frame::Settings(Settings::default())),
        (
            frame(4, 0, 0, b"\0\x03\0\0\0\x64\0\x04\0\0\0\x01\xfe\xfe\0\0\0\0"),
            Frame::Settings(Settings { max_streams: Some(100), window_bytes: Some(1), shrinks_table: false }),
        ),
        (
            frame(4, 0, 0, b"\0\x01\0\0\x0f\xff\0\x01\0\0\x10\0"),
            Frame::Settings(Settings { shrinks_table: true, ..Settings::default() }),
        ),
        (frame(6, 0, 0, b"12345678"), Frame::Ping(*b"12345678")),
        (
            frame(7, 0, 0, b"\x80\0\0\x03\0\0\0\x01why"),
            Frame::GoAway { last_stream: 3, code: ErrorCode::PROTOCOL, reason: b"why" },
        ),
        (frame(8, 0, 9, b"\x80\0\0\x01"), Frame::WindowUpdate { stream: 9, bytes: 1 }),
        // The highest bit of a stream has no meaning.
        (frame(8, 0, 1 << 31, b"\0\0\0\x01"), Frame::WindowUpdate { stream: 0, bytes: 1 }),
    ] {
        assert_eq!(read(&bytes), (vec![format!("{expected:?}")], None));
    }
}

#[test]
fn what_means_nothing_to_a_client_is_left_out() {
    let nothing =
        [frame(0xfe, 0xff, 7, b"?"), frame(2, 0, 7, b"12345"), frame(4, 1, 0, b""), frame(6, 1, 0, b"12345678")];
    assert_eq!(read(&nothing.concat()), (vec![], None));
}

#[test]
fn a_header_section_may_come_in_several_frames() {
    let parts = [frame(1, 1, 3, b"\x88"), frame(9, 0, 3, b""), frame(9, 0, 3, b"a"), frame(9, 4, 3, b"b")];
    let whole = Frame::Headers { stream: 3, block: b"\x88ab", is_last: true };
    assert_eq!(read(&parts.concat()), (vec![format!("{whole:?}")], None));
    for wrong in [frame(9, 4, 5, b""), frame(1, 4, 3, b"\x88"), frame(0xfe, 0, 3, b"")] {
        assert_eq!(read(&[frame(1, 1, 3, b"\x88"), wrong].concat()), (vec![], Some(ErrorCode::PROTOCOL)));
    }
    for more in [frame(9, 0, 3, &[0; 16_384]).repeat(19), frame(9, 0, 3, b"").repeat(1025)] {
        let error = (vec![], Some(ErrorCode::ENHANCE_YOUR_CALM));
        assert_eq!(read(&[frame(1, 1, 3, b"\x88"), more].concat()), error);
    }
}

#[test]
fn what_is_no_frame_of_a_server_is_an_error_with_its_code() {
    for (bytes, code) in [
        (frame(0, 0, 0, b"1"), ErrorCode::PROTOCOL),
        (frame(4, 0, 1, b""), ErrorCode::PROTOCOL),
        (frame(5, 4, 1, b"\0\0\0\x02"), ErrorCode::PROTOCOL),
        (frame(9, 4, 1, b""), ErrorCode::PROTOCOL),
        (frame(0, 8, 1, b"\x02a"), ErrorCode::PROTOCOL),
        (frame(0, 8, 1, b""), ErrorCode::PROTOCOL),
        (frame(1, 0x24, 1, b"1234"), ErrorCode::FRAME_SIZE),
        (frame(3, 0, 1, b"123"), ErrorCode::FRAME_SIZE),
        (frame(4, 0, 0, b"12345"), ErrorCode::FRAME_SIZE),
        (frame(4, 1, 0, b"123456"), ErrorCode::FRAME_SIZE),
        (frame(4, 0, 0, b"\0\x02\0\0\0\x01"), ErrorCode::PROTOCOL),
        (frame(4, 0, 0, b"\0\x04\x80\0\0\0"), ErrorCode::FLOW_CONTROL),
        (frame(4, 0, 0, b"\0\x05\0\0\x3f\xff"), ErrorCode::PROTOCOL),
        (frame(7, 0, 0, b"1234567"), ErrorCode::FRAME_SIZE),
        (vec![0, 0x40, 1], ErrorCode::FRAME_SIZE),
        (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), ErrorCode::FRAME_SIZE),
    ] {
        assert_eq!(read(&bytes), (vec![], Some(code)), "{bytes:?}");
    }
}

#[test]
fn a_section_says_status_length_and_what_malforms_it() {
    let read = |block: &[u8]| {
        let mut section = Section::default();
        section.begin(false);
        Decoder::default().decode(block, &mut section).unwrap();
        (section.status, section.length, section.wrong.is_some(), section.lines().count())
    };
    assert_eq!(read(b"\x88\x0f\x0d\x0213\0\x01a\x01b"), (Some(200), Some(13), false, 0));
    // The fields of a redirect are kept, whatever is asked for.
    assert_eq!(read(b"\x48\x03302\0\x01a\x01b"), (Some(302), None, false, 1));
    let malformed: [&[u8]; 10] = [
        b"\x88\x88",
        b"\0\x01a\x01b\x88",
        b"\x88\0\x02:x\x01y",
        b"\x48\x0220",
        b"\x48\x04+200",
        b"\x88\0\x01A\x01b",
        b"\x88\0\0\x01b",
        b"\x88\0\x01a\x01\n",
        b"\x88\x0f\x0d\x02+1",
        b"\x88\x0f\x2a\x07chunked",
    ];
    assert_eq!(malformed.map(|block| read(block).2), [true; 10]);
}

#[test]
fn what_a_client_sends_is_what_the_standard_says() {
    let mut out = Vec::new();
    push_preface(&mut out);
    let settings = frame(4, 0, 0, b"\0\x02\0\0\0\0\0\x04\x40\0\0\0\0\x06\0\x04\xb0\0");
    let window = frame(8, 0, 0, &((1_u32 << 30) - 65_535).to_be_bytes());
    assert_eq!(out, [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &settings, &window].concat());
    out.clear();
    push_data(&mut out, 3, b"ab", true);
    push_reset(&mut out, 5, ErrorCode::CANCEL);
    push_settings_ack(&mut out);
    push_ping(&mut out);
    push_pong(&mut out, *b"12345678");
    push_goaway(&mut out, ErrorCode::PROTOCOL);
    push_window_update(&mut out, 7, 9);
    let frames = [
        frame(0, 1, 3, b"ab"),
        frame(3, 0, 5, b"\0\0\0\x08"),
        frame(4, 1, 0, b""),
        frame(6, 0, 0, &[0; 8]),
        frame(6, 1, 0, b"12345678"),
        frame(7, 0, 0, b"\0\0\0\0\0\0\0\x01"),
        frame(8, 0, 7, b"\0\0\0\x09"),
    ];
    assert_eq!(out, frames.concat());
}
