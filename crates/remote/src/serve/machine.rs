//! What an agent says of its machine.

use std::path::Path;

use tare_run::machine_state::machine_facts;
use tare_sut::jdk::Jdk;
use tare_sys::affinity::allowed_cpus;

use crate::protocol::MachineFacts;

/// The facts. `java` is the home of the JDK to use, where one is named.
pub(super) fn machine_of_agent(java: Option<&Path>) -> Result<MachineFacts, String> {
    // `client port server port`, of the connection that this agent was started over.
    let connection = std::env::var("SSH_CONNECTION").ok();
    Ok(MachineFacts {
        sections: machine_facts(),
        cpus: allowed_cpus().map_err(|error| error.to_string())?.to_string(),
        jdk: Jdk::find_suitable(0, java).ok().map(|jdk| jdk.major),
        ssh_address: connection.and_then(|all| all.split(' ').nth(2)?.parse().ok()),
    })
}
