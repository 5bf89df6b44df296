//! Redirects that are followed: their count, their times, their rules and their ends.

use bytes::Bytes;
use h2::server::Builder;
use http::Response;
use tare_load::{Check, ErrorClass, LoadSession, RequestSpec, Requests, Schedule, SessionSpec, SliceSample, SliceSpec};

use super::{Got, answer, site};
use crate::http2;
use crate::support::{self, count, run};

/// The session of two users who follow up to five redirects.
fn following(spec: SessionSpec, request: RequestSpec) -> SessionSpec {
    let requests = Requests { follow: 5, ..Requests::of([request]) };
    SessionSpec { requests, connections: 2, ..spec }
}

fn drive(spec: &SessionSpec, slice: &SliceSpec) -> SliceSample {
    run(&mut LoadSession::open(spec).unwrap(), slice)
}

/// How many answers had each status.
fn statuses(sample: &SliceSample) -> Vec<(u16, u64)> {
    sample.statuses.0.iter().map(|(status, tally)| (*status, tally.count)).collect()
}

#[test]
fn a_request_goes_on_to_the_end_of_its_redirects_and_is_one_request() {
    let kept = |got: &Got| match got.line.as_str() {
        "GET /" => answer("302 Found", "Location: /next\r\n", "moved"),
        "GET /next" => answer("301 Moved", "Location: last?a=b\r\n", ""),
        _ => answer("200 OK", "", "page"),
    };
    let closed = |got: &Got| match got.line.as_str() {
        "GET /" => "HTTP/1.1 302 Found\r\nLocation: /next\r\nConnection: close\r\n\r\nuntil the end".to_owned(),
        "GET /next" => answer("301 Moved", "Connection: close\r\nLocation: /last?a=b\r\n", ""),
        _ => answer("200 OK", "Connection: close\r\n", "page"),
    };
    let request = || RequestSpec::get("/").expecting(Check::body_is(*b"page"));
    for (site, connections) in [(site(kept), 2..3), (site(closed), 30..40)] {
        let (address, journal) = site;
        for schedule in [Schedule::Closed, Schedule::constant(500.0)] {
            let spec = following(support::spec(address, Vec::new()), request());
            let sample = drive(&spec, &SliceSpec { schedule, ..count(10, 2) });
            assert_eq!((sample.ok, sample.failed), (10, 0), "{:?}", sample.errors);
            assert_eq!(statuses(&sample), [(200, 10), (301, 10), (302, 10)]);
            assert!(connections.contains(&sample.connections_opened), "{}", sample.connections_opened);
            assert_eq!(sample.connections_lost, 0);
        }
        let lasts = journal.lock().unwrap().iter().filter(|got| got.line == "GET /last?a=b").count();
        assert_eq!(lasts, 20);
    }
}

#[test]
fn the_page_of_a_redirect_may_be_longer_than_the_answer() {
    let page = "moved ".repeat(100_000);
    let (address, _) = site(move |got| match got.line.as_str() {
        "GET /" => answer("302 Found", "Location: /next\r\n", &page),
        _ => answer("200 OK", "", "page"),
    });
    let request = RequestSpec::get("/").expecting(Check::length(4));
    let sample = drive(&following(support::spec(address, Vec::new()), request), &count(4, 2));
    assert_eq!((sample.ok, sample.failed), (4, 0), "{:?}", sample.errors);
}

#[test]
fn what_is_not_followed_fails_with_where_it_leads() {
    let (address, journal) = site(|got| match got.line.as_str() {
        "GET /round" => answer("302 Found", "Location: /round\r\n", ""),
        "GET /away" => answer("302 Found", "Location: https://other.example/\r\n", ""),
        "GET /nowhere" => answer("302 Found", "", ""),
        _ => answer("304 Not Modified", "Location: /\r\n", ""),
    });
    for (path, requests, says) in [
        ("/round", 6, "5 redirects were followed; --follow=N"),
        ("/away", 1, "https://other.example/\": that is not on http://127.0.0.1"),
        ("/nowhere", 1, "status 302 instead of 200 to 299"),
        ("/same", 1, "status 304 instead of 200 to 299"),
    ] {
        journal.lock().unwrap().clear();
        let spec = following(support::spec(address, Vec::new()), RequestSpec::get(path));
        let sample = drive(&spec, &count(1, 2));
        let status = sample.errors.for_class(ErrorClass::Status);
        assert_eq!((sample.failed, status.count, journal.lock().unwrap().len()), (1, 1, requests), "{path}");
        assert!(status.example.contains(says), "{path}: {}", status.example);
    }
    let allowed = RequestSpec::get("/round").expecting(Check::status(302));
    let sample = drive(&following(support::spec(address, Vec::new()), allowed), &count(3, 2));
    assert_eq!((sample.ok, statuses(&sample)), (3, vec![(302, 3)]), "a status that a check allows is the answer");
}

#[test]
fn a_form_is_sent_once_after_303_and_again_after_307() {
    let (address, journal) = site(|got| match got.line.as_str() {
        "POST /done" => answer("303 See Other", "Location: /thanks\r\n", ""),
        "POST /moved" => answer("307 Temporary", "Location: /here\r\n", ""),
        _ => answer("200 OK", "", ""),
    });
    for (path, lines, bodies) in
        [("/done", ["POST /done", "GET /thanks"], ["n=1", ""]), ("/moved", ["POST /moved", "POST /here"], ["n=1"; 2])]
    {
        journal.lock().unwrap().clear();
        let request = RequestSpec::post(path, *b"n=1").header("Content-Type", "text/x").header("X-A", "b");
        let sample = drive(&following(support::spec(address, Vec::new()), request), &count(1, 2));
        assert_eq!((sample.ok, sample.failed), (1, 0), "{:?}", sample.errors);
        let journal = journal.lock().unwrap();
        let found: Vec<_> = journal.iter().map(|got| (got.line.as_str(), got.body.as_str())).collect();
        assert_eq!(found, lines.into_iter().zip(bodies).collect::<Vec<_>>());
        assert_eq!(journal[1].header("x-a"), "b");
        assert_eq!(journal[1].header("content-type"), if bodies[1].is_empty() { "" } else { "text/x" });
    }
}

#[test]
fn streams_of_http_2_follow_too() {
    let address = http2::server(Builder::new(), |mut connection| async move {
        while let Some(Ok((request, mut answering))) = connection.accept().await {
            let (status, location) = if request.uri().path() == "/" { (302, "/last") } else { (200, "") };
            let head = Response::builder().status(status).header("location", location).body(()).unwrap();
            answering.send_response(head, false).ok()?.send_data(Bytes::from_static(b"page"), true).ok()?;
        }
        None
    });
    let spec = following(http2::spec(address, 2, 4), RequestSpec::get("/").expecting(Check::body_is(*b"page")));
    let sample = drive(&spec, &count(40, 2));
    assert_eq!((sample.ok, sample.failed, sample.connections_opened), (40, 0, 2), "{:?}", sample.errors);
    assert_eq!(statuses(&sample), [(200, 40), (302, 40)]);
}
