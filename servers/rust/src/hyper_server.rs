//! The baseline: hyper alone. It has no router, so a map finds the route.

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::sync::Arc;

use axum::serve::Listener;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use crate::answers::{self, MAX_BODY_BYTES, PLAIN, TEXT};
use crate::documents::{Message, Order};
use crate::protocol::{self, TlsListener};
use crate::upload::{self, Refusal};

/// Serves `/path0` to `/path{routes - 1}` and the others until the process ends.
pub async fn serve(listener: TcpListener, routes: i32) -> io::Result<()> {
    match protocol::acceptor()? {
        None => answer_all(protocol::plain(listener), routes).await,
        Some(acceptor) => answer_all(TlsListener::new(listener, acceptor)?, routes).await,
    }
}

async fn answer_all(mut listener: impl Listener, routes: i32) -> ! {
    let routes = Arc::new(Routes::new(routes));
    let is_http2 = protocol::is_http2();
    loop {
        let (stream, _) = listener.accept().await;
        let routes = Arc::clone(&routes);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let routes = Arc::clone(&routes);
                async move { Ok::<_, Infallible>(routes.answer(request).await.unwrap_or_else(empty_answer)) }
            });
            let stream = TokioIo::new(stream);
            // An error means that the connection broke. There is nobody left to answer.
            let _ = if is_http2 {
                http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service).await
            } else {
                http1::Builder::new().serve_connection(stream, service).await
            };
        });
    }
}

type Answer = Response<Full<Bytes>>;

/// The paths that take a POST.
#[derive(Clone, Copy)]
enum Post {
    String(i32),
    Bytes(i32),
    Echo,
    Upload,
}

struct Routes {
    /// n by path, for `/path{n}/{id}` without the id.
    numbers: HashMap<String, i32>,
    posts: HashMap<String, Post>,
}

impl Routes {
    fn new(routes: i32) -> Self {
        let numbered = (0..routes)
            .flat_map(|n| [(format!("/path{n}"), Post::String(n)), (format!("/pathBytes{n}"), Post::Bytes(n))]);
        let others = [("/echo".to_owned(), Post::Echo), ("/file".to_owned(), Post::Upload)];
        Self {
            numbers: (0..routes).map(|n| (format!("/path{n}"), n)).collect(),
            posts: numbered.chain(others).collect(),
        }
    }

    /// The answer, or the status of the error.
    async fn answer(&self, request: Request<Incoming>) -> Result<Answer, StatusCode> {
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/text") => Ok(text(TEXT)),
            (&Method::GET, "/json") => json(&Message { message: TEXT }),
            (&Method::GET, path) => self.answer_with_id(path).ok_or(StatusCode::NOT_FOUND),
            (&Method::POST, path) => match self.posts.get(path) {
                Some(post) => post.answer(request.into_body()).await,
                None => Err(StatusCode::NOT_FOUND),
            },
            _ => Err(StatusCode::NOT_FOUND),
        }
    }

    fn answer_with_id(&self, path: &str) -> Option<Answer> {
        let (path, id) = path.rsplit_once('/')?;
        Some(text(answers::get(*self.numbers.get(path)?, id.parse().ok()?)))
    }
}

impl Post {
    async fn answer(self, body: Incoming) -> Result<Answer, StatusCode> {
        match self {
            Self::String(n) => {
                let bytes = read_body(body).await?;
                let string = str::from_utf8(&bytes).map_err(|_| StatusCode::BAD_REQUEST)?;
                Ok(text(answers::post_string(n, string)))
            }
            Self::Bytes(n) => Ok(text(answers::post_bytes(n, &read_body(body).await?))),
            Self::Echo => {
                let order: Order =
                    serde_json::from_slice(&read_body(body).await?).map_err(|_| StatusCode::BAD_REQUEST)?;
                json(&order)
            }
            Self::Upload => match upload::save(Limited::new(body, MAX_BODY_BYTES)).await {
                Ok(length) => Ok(text(answers::upload(length))),
                Err(Refusal::Body) => Err(StatusCode::PAYLOAD_TOO_LARGE),
                Err(Refusal::Disk) => Err(StatusCode::INTERNAL_SERVER_ERROR),
            },
        }
    }
}

async fn read_body(body: Incoming) -> Result<Bytes, StatusCode> {
    let collected = Limited::new(body, MAX_BODY_BYTES).collect().await.map_err(refusal_status)?;
    Ok(collected.to_bytes())
}

fn refusal_status(error: Box<dyn Error + Send + Sync>) -> StatusCode {
    if error.is::<LengthLimitError>() { StatusCode::PAYLOAD_TOO_LARGE } else { StatusCode::BAD_REQUEST }
}

fn text(body: impl Into<Bytes>) -> Answer {
    with_type(PLAIN, body)
}

fn json(document: &impl serde::Serialize) -> Result<Answer, StatusCode> {
    let body = serde_json::to_vec(document).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(with_type("application/json", body))
}

fn with_type(content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(content_type));
    answer
}

fn empty_answer(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = status;
    answer
}
