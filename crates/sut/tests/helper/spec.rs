//! Starts of a server that tests and their program share.

use std::path::PathBuf;
use std::time::Duration;

use tare_sut::server::ServerSpec;
use tare_sys::affinity::allowed_cpus;
use tare_sys::child::SchedulingPolicy;

pub const TIMEOUT: Duration = Duration::from_secs(20);

/// A server on any core that announces its port.
pub fn announcing(command: [&str; 3], log_path: PathBuf) -> ServerSpec {
    ServerSpec {
        name: "the server".into(),
        command: command.map(str::to_owned).to_vec(),
        ready: Some("listening on (?<port>[0-9]+)".into()),
        cpus: allowed_cpus().unwrap(),
        scheduling: SchedulingPolicy::Batch,
        startup_timeout: TIMEOUT,
        stop_grace: TIMEOUT,
        log_path,
        ..ServerSpec::default()
    }
}
