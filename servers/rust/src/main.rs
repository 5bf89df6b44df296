//! The servers in Rust: hyper alone, and axum on top of it. `tare-servers-rust --threads N SERVER PORT` starts one.

mod answers;
mod axum_server;
mod documents;
mod hyper_server;
mod launch;
mod protocol;
mod upload;

use answers::MULTI_ROUTES;

fn main() {
    launch::serve(async |server, listener| match server {
        "rust.Hyper" => hyper_server::serve(listener, 1).await,
        "rust.HyperMulti" => hyper_server::serve(listener, MULTI_ROUTES).await,
        "rust.Axum" => axum_server::serve(listener, 1).await,
        "rust.AxumMulti" => axum_server::serve(listener, MULTI_ROUTES).await,
        _ => launch::exit(2, &format!("there is no server \"{server}\" in this program")),
    });
}
