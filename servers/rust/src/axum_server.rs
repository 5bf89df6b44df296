//! axum, as its users write it: a router, extractors, and axum's own way to serve.

use std::io;

use axum::extract::{DefaultBodyLimit, Path, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, RequestExt, Router};
use hyper::body::Bytes;
use tokio::net::TcpListener;

use crate::answers::{self, MAX_BODY_BYTES, PLAIN, TEXT};
use crate::documents::{Message, Order};
use crate::protocol::{self, TlsListener};
use crate::upload::{self, Refusal};

/// Serves `/path0` to `/path{routes - 1}` and the others until the process ends.
pub async fn serve(listener: TcpListener, routes: i32) -> io::Result<()> {
    match protocol::acceptor()? {
        None => axum::serve(protocol::plain(listener), router(routes)).await,
        Some(acceptor) => axum::serve(TlsListener::new(listener, acceptor)?, router(routes)).await,
    }
}

fn router(routes: i32) -> Router {
    let numbered = (0..routes).fold(Router::new(), |router, n| {
        router
            .route(&format!("/path{n}/{{id}}"), get(async move |Path(id): Path<i32>| text(answers::get(n, id))))
            .route(&format!("/path{n}"), post(async move |body: String| text(answers::post_string(n, &body))))
            .route(&format!("/pathBytes{n}"), post(async move |body: Bytes| text(answers::post_bytes(n, &body))))
    });
    numbered
        .route("/text", get(async || text(TEXT)))
        .route("/json", get(async || Json(Message { message: TEXT })))
        .route("/echo", post(async |Json(order): Json<Order>| Json(order)))
        .route("/file", post(save))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

async fn save(request: Request) -> Response {
    match upload::save(request.with_limited_body().into_body()).await {
        Ok(length) => text(answers::upload(length)).into_response(),
        Err(Refusal::Body) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(Refusal::Disk) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn text<T>(body: T) -> ([(axum::http::HeaderName, &'static str); 1], T) {
    ([(CONTENT_TYPE, PLAIN)], body)
}
