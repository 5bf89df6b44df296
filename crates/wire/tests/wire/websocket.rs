//! Handshakes and frames as a client receives them: in any pieces, and with any error.

use tare_wire::ws::{Arrival, Endpoint, FrameError, Handshake, Kind, accept_for};
use tungstenite::error::ProtocolError;

/// A handshake under way, and its key.
fn begin_handshake(headers: &[(String, String)]) -> (Handshake, String) {
    let (handshake, request) = Handshake::begin("/ws/ts", "localhost:8080", headers).unwrap();
    let request = String::from_utf8(request).unwrap();
    assert!(request.starts_with("GET /ws/ts HTTP/1.1\r\nHost: localhost:8080\r\n"), "{request}");
    let key = request.split("Sec-WebSocket-Key: ").nth(1).unwrap().split("\r\n").next().unwrap();
    (handshake, key.to_owned())
}

fn answer(accept: &str, more: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    )
    .into_bytes()
}

/// A client's result for an answer in these pieces: whether the WebSocket is open, and the bytes after the answer.
fn feed_handshake(handshake: &mut Handshake, pieces: &[&[u8]]) -> Result<(bool, Vec<u8>), String> {
    let (mut is_open, mut left) = (false, Vec::new());
    for piece in pieces {
        let mut piece = *piece;
        is_open = is_open || handshake.receive(&mut piece)?;
        left.extend_from_slice(piece);
    }
    Ok((is_open, left))
}

#[test]
fn the_accept_of_a_key_is_that_of_the_rfc() {
    assert_eq!(accept_for(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn the_handshake_of_another_connection_is_left_out() {
    let given = [
        ("upgrade", "h2c"),
        ("Connection", "keep-alive"),
        ("sec-websocket-key", "x"),
        ("Sec-WebSocket-Version", "8"),
        ("Origin", "http://a"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let (_, request) = Handshake::begin("/", "a", &given).unwrap();
    let request = String::from_utf8(request).unwrap().to_ascii_lowercase();
    for name in ["upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "origin"] {
        assert_eq!(request.matches(&format!("\r\n{name}: ")).count(), 1, "{name}: {request}");
    }
    for other in ["upgrade: h2c", "connection: keep-alive", "sec-websocket-key: x\r", "sec-websocket-version: 8"] {
        assert!(!request.contains(other), "{other}: {request}");
    }
}

#[test]
fn a_handshake_is_understood_wherever_it_is_cut_and_leaves_the_frames_behind_it() {
    for cut in 0.. {
        let (mut handshake, key) = begin_handshake(&[]);
        let bytes = [&answer(&accept_for(key.as_bytes()), "")[..], b"\x81\x02hi"].concat();
        if cut > bytes.len() {
            break;
        }
        let (first, second) = bytes.split_at(cut);
        assert_eq!(
            feed_handshake(&mut handshake, &[first, second]),
            Ok((true, b"\x81\x02hi".to_vec())),
            "cut at {cut}"
        );
    }
}

#[test]
fn each_wrong_answer_to_a_handshake_is_an_error_of_its_own() {
    let offers = [("Sec-WebSocket-Protocol".to_owned(), "a, b".to_owned())];
    for (offers, answered, expected) in [
        (
            &[][..],
            "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n".to_owned(),
            Err("status 404 instead of 101; is there a WebSocket at this path?"),
        ),
        (
            &[],
            "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Err("status 503 instead of 101; the server refuses it for now"),
        ),
        (
            &[],
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Err("status 200 instead of 101; is there a WebSocket at this path?"),
        ),
        (
            &[],
            "HTTP/1.1 301 X\r\nLocation: https://a/b\"\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Err("status 301 instead of 101; it leads to \"https://a/b\\\"\": give that URL with ws or wss, or log in \
                 there first"),
        ),
        (
            &[],
            "HTTP/1.1 201 X\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n".to_owned(),
            Err("status 201 instead of 101; is there a WebSocket at this path?"),
        ),
        (&[], "HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n".to_owned(), Err("101 without \"Upgrade: websocket\"")),
        (&[], "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n".to_owned(), Err("101 without \"Connection: Upgrade\"")),
        (
            &[],
            String::from_utf8(answer("x", "")).unwrap(),
            Err("Sec-WebSocket-Accept does not follow from the key: found x, expected ACCEPT"),
        ),
        (
            &[],
            String::from_utf8(answer("ACCEPT", "Sec-WebSocket-Extensions: permessage-deflate\r\n")).unwrap(),
            Err("the server chose \"permessage-deflate\", which was not offered"),
        ),
        (
            &offers,
            String::from_utf8(answer("ACCEPT", "Sec-WebSocket-Protocol: c\r\n")).unwrap(),
            Err("the server chose \"c\", which was not offered"),
        ),
        (
            &offers,
            String::from_utf8(answer("ACCEPT", "Sec-WebSocket-Protocol: b\r\n")).unwrap(),
            Ok((true, Vec::new())),
        ),
    ] {
        let (mut handshake, key) = begin_handshake(offers);
        let accept = accept_for(key.as_bytes());
        let answered = answered.replace("ACCEPT", &accept);
        let found = feed_handshake(&mut handshake, &[answered.as_bytes()]);
        let expected = expected.map_err(|text| text.replace("ACCEPT", &accept));
        assert_eq!(found, expected, "{answered}");
    }
    let (mut handshake, _) = begin_handshake(&[]);
    let error = feed_handshake(&mut handshake, &[b"\x16\x03\x01"]).unwrap_err();
    assert!(error.starts_with("not an HTTP answer: "), "{error}");
}

#[test]
fn fields_of_one_name_are_one_list_and_all_of_it_is_judged() {
    const ACCEPT: &str = "Sec-WebSocket-Accept: ACCEPT\r\n";
    const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
    let not_offered = |chosen: &str| Err(format!("the server chose \"{chosen}\", which was not offered"));
    let offers = [("Sec-WebSocket-Protocol".to_owned(), "a, b".to_owned())];
    for (fields, expected) in [
        ("Upgrade: websocket\r\nConnection: keep-alive\r\nConnection: Upgrade\r\n", Ok(true)),
        ("Upgrade: h2c\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", Ok(true)),
        (&format!("{UPGRADE}Sec-WebSocket-Extensions:\r\nSec-WebSocket-Extensions: ,\r\n"), Ok(true)),
        (
            &format!("{UPGRADE}Sec-WebSocket-Extensions:\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"),
            not_offered(", permessage-deflate"),
        ),
        (&format!("{UPGRADE}Sec-WebSocket-Protocol: b\r\nSec-WebSocket-Protocol: evil\r\n"), not_offered("b, evil")),
        (&format!("{UPGRADE}Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: b\r\n"), not_offered("a, b")),
    ] {
        let (mut handshake, key) = begin_handshake(&offers);
        let answered = format!("HTTP/1.1 101 X\r\n{fields}{ACCEPT}\r\n").replace("ACCEPT", &accept_for(key.as_bytes()));
        assert_eq!(handshake.receive(&mut answered.as_bytes()), expected, "{fields}");
    }
    let (mut handshake, key) = begin_handshake(&[]);
    let twice = answer(&accept_for(key.as_bytes()), "Sec-WebSocket-Accept: x\r\n");
    let error = handshake.receive(&mut &twice[..]).unwrap_err();
    assert!(error.starts_with("Sec-WebSocket-Accept does not follow from the key: found "), "{error}");
    let (mut handshake, key) = begin_handshake(&[]);
    let old = String::from_utf8(answer(&accept_for(key.as_bytes()), "")).unwrap().replace("HTTP/1.1", "HTTP/1.0");
    let too_old = "101 in HTTP/1.0, which cannot open a WebSocket".to_owned();
    assert_eq!(handshake.receive(&mut old.as_bytes()), Err(too_old));
}

/// A client's events for frames in these pieces, and the bytes that it sends.
fn receive_frames<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Arrival>, Option<FrameError>, Vec<u8>) {
    let mut endpoint = Endpoint::client();
    let mut arrivals = Vec::new();
    for mut piece in pieces {
        loop {
            match endpoint.receive(&mut piece) {
                Ok(Some(arrival)) => arrivals.push(arrival),
                Ok(None) => break,
                Err(error) => return (arrivals, Some(error), endpoint.outgoing().to_vec()),
            }
        }
    }
    let said = endpoint.outgoing().to_vec();
    (arrivals, None, said)
}

/// The unmasked payload of the frames that a client sent.
fn unmask_frames(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut frames = Vec::new();
    while let [first, second, rest @ ..] = bytes {
        assert!(second & 0x80 != 0, "a client masks what it sends");
        let (mask, rest) = rest.split_at(4);
        let (payload, rest) = rest.split_at(usize::from(second & 0x7f));
        frames.push((*first, payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect()));
        bytes = rest;
    }
    frames
}

const FRAMES: &[u8] = b"\x81\x02hi\x89\x01?\x01\x03\xe2\x82\xac\x8a\x00\x80\x01!\x82\x02\xff\x00\x88\x05\x03\xe8bye";

#[test]
fn frames_are_the_same_messages_wherever_they_are_cut() {
    let text = |text: &'static str| Arrival::Message(Kind::Text, text.as_bytes().into());
    let bytes = Arrival::Message(Kind::Binary, b"\xff\x00"[..].into());
    let close = Arrival::Close(Some((1000, "bye".to_owned())));
    let expected = [text("hi"), Arrival::Ping, Arrival::Pong(b""[..].into()), text("€!"), bytes, close];
    for cut in 0..=FRAMES.len() {
        let (first, second) = FRAMES.split_at(cut);
        let (arrivals, error, said) = receive_frames([first, second].into_iter());
        assert_eq!((&arrivals[..], error), (&expected[..], None), "cut at {cut}");
        // A pong with the ping's payload, and the answer to the close.
        assert_eq!(unmask_frames(&said), [(0x8a, b"?".to_vec()), (0x88, b"\x03\xe8bye".to_vec())], "cut at {cut}");
    }
    assert_eq!(receive_frames(FRAMES.chunks(1)).0, expected, "in single bytes");
}

#[test]
fn a_ping_is_answered_with_what_it_brought() {
    let (mut client, mut server) = (Endpoint::client(), Endpoint::server());
    client.send_ping(b"when?");
    assert_eq!(unmask_frames(client.outgoing()), [(0x89, b"when?".to_vec())]);
    assert_eq!(server.receive(&mut client.outgoing()), Ok(Some(Arrival::Ping)));
    let answer = Arrival::Pong(b"when?"[..].into());
    assert_eq!(client.receive(&mut server.outgoing()), Ok(Some(answer)));
}

#[test]
fn each_protocol_violation_is_an_error_of_its_own_and_closes_with_its_code() {
    let protocol = FrameError::Protocol;
    for (frames, expected, code) in [
        (&b"\xc1\x01x"[..], protocol(ProtocolError::NonZeroReservedBits), 1002_u16),
        (b"\x81\x81\x00\x00\x00\x00x", protocol(ProtocolError::MaskedFrameFromServer), 1002),
        (b"\x83\x00", protocol(ProtocolError::InvalidOpcode(3)), 1002),
        (b"\x8b\x00", protocol(ProtocolError::InvalidOpcode(11)), 1002),
        (b"\x09\x00", protocol(ProtocolError::FragmentedControlFrame), 1002),
        (&[&b"\x89\x7e\x00\x7e"[..], &[b'x'; 126]].concat(), protocol(ProtocolError::ControlFrameTooBig), 1002),
        (b"\x80\x01x", protocol(ProtocolError::UnexpectedContinueFrame), 1002),
        (b"\x88\x01x", protocol(ProtocolError::InvalidCloseSequence), 1002),
        (b"\x88\x02\x00\x00", FrameError::InvalidCloseCode, 1002),
        (b"\x88\x02\x03\xe7", FrameError::InvalidCloseCode, 1002),
        (b"\x88\x06\x03\xedhere", FrameError::InvalidCloseCode, 1002),
        (b"\x88\x02\x03\xee", FrameError::InvalidCloseCode, 1002),
        (b"\x88\x02\x03\xf6", FrameError::InvalidCloseCode, 1002),
        (b"\x88\x02\x03\xf7", FrameError::InvalidCloseCode, 1002),
        (b"\x88\x02\x13\x88", FrameError::InvalidCloseCode, 1002),
        (b"\x88\x02\xff\xff", FrameError::InvalidCloseCode, 1002),
        (b"\x81\x02\xc3\x28", FrameError::NotUtf8, 1007),
        (b"\x01\x01\xff", FrameError::NotUtf8, 1007),
        (
            b"\x82\x7f\x00\x00\x00\x00\x01\x00\x00\x01",
            FrameError::TooLong { bytes: (16 << 20) + 1, most: 16 << 20 },
            1009,
        ),
    ] {
        let (arrivals, error, said) = receive_frames(std::iter::once(frames));
        assert_eq!((arrivals, error), (Vec::new(), Some(expected)), "{}", frames.escape_ascii());
        let [(first, payload)] = &unmask_frames(&said)[..] else { panic!("one frame: {said:?}") };
        assert_eq!((*first, &payload[..2]), (0x88, &code.to_be_bytes()[..]), "{}", frames.escape_ascii());
    }
}

#[test]
fn a_code_that_the_library_does_not_know_is_named_among_those_that_it_refuses() {
    assert!(FrameError::InvalidCloseCode.to_string().contains("1014 (bad gateway)"));
}

#[test]
fn after_a_close_nothing_is_received_or_sent() {
    let mut endpoint = Endpoint::client();
    let mut bytes = &b"\x88\x00\x81\x01x"[..];
    assert_eq!(endpoint.receive(&mut bytes), Ok(Some(Arrival::Close(None))));
    endpoint.clear_outgoing();
    assert!(endpoint.receive(&mut bytes).is_err());
    assert_eq!(endpoint.send_message(Kind::Text, b"x"), Ok(()));
    assert_eq!(endpoint.outgoing(), b"");
}

#[test]
fn what_one_end_sends_the_other_receives() {
    let (mut client, mut server) = (Endpoint::client(), Endpoint::server());
    for bytes in [0, 1, 125, 126, 65_535, 65_536, 1 << 20] {
        let payload = vec![b'a'; bytes];
        client.send_message(Kind::Text, &payload).unwrap();
        let arrival = server.receive(&mut client.outgoing()).unwrap();
        assert_eq!(arrival, Some(Arrival::Message(Kind::Text, payload.into())), "{bytes} bytes");
        client.clear_outgoing();
    }
    assert_eq!(client.send_message(Kind::Text, b"\xff"), Err(FrameError::NotUtf8));
    client.send_close();
    assert_eq!(server.receive(&mut client.outgoing()), Ok(Some(Arrival::Close(Some((1000, String::new()))))));
}
