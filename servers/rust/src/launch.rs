//! Starts a server from the command line. The server prints a line when it listens. SIGTERM ends it.

use std::io;
use std::process;

use tokio::net::TcpListener;
use tokio::runtime;

/// Servers under test are reachable from another machine only where tare asks for it with this variable.
const ADDRESS: &str = "TARE_ADDRESS";
const HOST: &str = "127.0.0.1";

/// The parsed command line.
struct CommandLine {
    threads: usize,
    server: String,
    port: u16,
}

/// Opens the port in the arguments (0 = any free one), prints it, and lets `answer` run the named server on it.
///
/// A wrong argument ends the process with exit code 2, a port in use with 1, each with one line on standard error.
pub fn serve(answer: impl AsyncFnOnce(&str, TcpListener) -> io::Result<()>) {
    let CommandLine { threads, server, port } =
        parse(std::env::args().skip(1)).unwrap_or_else(|message| exit(2, &message));
    let host = std::env::var(ADDRESS).unwrap_or_else(|_| HOST.to_owned());
    let runtime = runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let result = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind((host.as_str(), port)).await?;
            println!("tare: ready on {host}:{}", listener.local_addr()?.port());
            answer(&server, listener).await
        })
    });
    result.unwrap_or_else(|error| exit(1, &format!("cannot serve on {host}:{port}: {error}")));
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<CommandLine, String> {
    let usage = "expected --threads N SERVER PORT, where port 0 is any that is free";
    let mut next = || arguments.next().ok_or(usage);
    if next()? != "--threads" {
        return Err(usage.to_owned());
    }
    let threads = next()?.parse().ok().filter(|threads| *threads > 0).ok_or("--threads takes a number above 0")?;
    let server = next()?;
    let port = next()?;
    let port = port.parse().map_err(|_| format!("\"{port}\" is not a port: give a number from 0 to 65535"))?;
    Ok(CommandLine { threads, server, port })
}

/// Ends the process with one line on standard error.
pub fn exit(code: i32, message: &str) -> ! {
    eprintln!("error: {message}");
    process::exit(code)
}
