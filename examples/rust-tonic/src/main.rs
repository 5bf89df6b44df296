//! A server of tonic with the standard health service. LAYER=1 puts a tower layer around every call.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use tonic::transport::Server;
use tower::{layer::layer_fn, Service};

static CALLS: AtomicU64 = AtomicU64::new(0);
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// The layer: counts calls, and measures how long each one took.
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
            CALLS.fetch_add(1, Ordering::Relaxed);
            NANOSECONDS.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            answer
        })
    }
}

#[tokio::main]
async fn main() {
    let port = std::env::var("PORT").expect("PORT is set");
    let address = format!("127.0.0.1:{port}").parse().expect("PORT is a number");
    let (_reporter, health) = tonic_health::server::health_reporter();
    let served = if std::env::var_os("LAYER").is_some() {
        Server::builder().layer(layer_fn(Timed)).add_service(health).serve(address).await
    } else {
        Server::builder().add_service(health).serve(address).await
    };
    served.expect("the server runs");
}
