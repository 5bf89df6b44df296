//! A server of axum. LAYER=1 puts a tower layer around its routes.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::{routing::get, Router};
use tower::{layer::layer_fn, Service};

static REQUESTS: AtomicU64 = AtomicU64::new(0);
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// The layer: counts requests, and measures how long each one took.
#[derive(Clone)]
struct Timed<S>(S);

impl<S, R> Service<R> for Timed<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let begin = Instant::now();
        let answer = self.0.call(request);
        Box::pin(async move {
            let answer = answer.await;
            REQUESTS.fetch_add(1, Ordering::Relaxed);
            NANOSECONDS.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            answer
        })
    }
}

#[tokio::main]
async fn main() {
    let mut app = Router::new().route("/", get(|| async { "hello" }));
    if std::env::var_os("LAYER").is_some() {
        app = app.layer(layer_fn(Timed));
    }
    let address = format!("127.0.0.1:{}", std::env::var("PORT").expect("PORT is set"));
    let listener = tokio::net::TcpListener::bind(address).await.expect("the port is free");
    axum::serve(listener, app).await.expect("the server runs");
}
