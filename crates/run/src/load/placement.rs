//! Whether the server shares cores with the generator.

use std::collections::HashSet;

use tare_load::Target;
use tare_sys::affinity::{CpuSet, cpus_of_task};
use tare_sys::procfs::net::{listeners, socket_owner};

/// Whether the server is on another machine, or may not use these cores. False if that is not known.
pub fn server_is_elsewhere(target: &Target, cpus: &CpuSet) -> bool {
    let server = || cpus_of_server(target.tcp_address()?.port());
    !target.is_on_this_machine() || server().is_some_and(|server| !server.overlaps(cpus))
}

/// The cores that the process which listens on this port may use; `None` also if it is another user's.
fn cpus_of_server(port: u16) -> Option<CpuSet> {
    let here = listeners().ok()?.into_iter().filter(|listener| listener.address.port() == port);
    let inodes: HashSet<u64> = here.map(|listener| listener.inode).collect();
    cpus_of_task(socket_owner(&inodes)?.pid).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_server_is_elsewhere_if_it_may_not_use_the_cores() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = Target::Tcp(socket.local_addr().unwrap());
        let own = tare_sys::affinity::allowed_cpus().unwrap();
        assert!(!server_is_elsewhere(&here, &own), "this process listens, on the cores that it may use");
        assert!(server_is_elsewhere(&here, &CpuSet::from_indices([100_000])));
        // An address for documentation: of no machine, and so not of this one.
        assert!(server_is_elsewhere(&Target::Tcp("192.0.2.1:80".parse().unwrap()), &own));
    }
}
