//! Where the server is: whether it shares cores with the generator, and which process it is.

use std::collections::HashSet;

use tare_load::Target;
use tare_sys::affinity::{CpuSet, cpus_of_task};
use tare_sys::procfs::net::{listeners, socket_owner, sockets_of};
use tare_sys::procfs::tree::process_tree;

/// Whether the server is on another machine, or may not use these cores. False if that is not known.
pub fn server_is_elsewhere(target: &Target, cpus: &CpuSet) -> bool {
    let server = || cpus_of_server(target.tcp_address()?.port());
    !target.is_on_this_machine() || server().is_some_and(|server| !server.overlaps(cpus))
}

/// Whether a process, or one that it started, listens on the port of the target. True also if that is not known.
pub fn may_answer(pid: u32, target: &Target) -> bool {
    let known = target.tcp_address().zip(process_tree(pid).ok());
    let Some((address, processes)) = known else { return true };
    let inodes = listening_on(address.port());
    inodes.is_empty() || processes.into_iter().any(|pid| !sockets_of(pid).is_disjoint(&inodes))
}

/// The cores that the process which listens on this port may use; `None` also if it is another user's.
fn cpus_of_server(port: u16) -> Option<CpuSet> {
    cpus_of_task(socket_owner(&listening_on(port))?.pid).ok()
}

fn listening_on(port: u16) -> HashSet<u64> {
    let here = listeners().unwrap_or_default().into_iter().filter(|listener| listener.address.port() == port);
    here.map(|listener| listener.inode).collect()
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
    #[test]
    fn who_listens_is_asked_of_the_whole_process() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = Target::Tcp(socket.local_addr().unwrap());
        assert!(may_answer(std::process::id(), &here));
        let other = std::process::Command::new("sleep").arg("60").spawn();
        let mut other = other.unwrap();
        assert!(!may_answer(other.id(), &here));
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(may_answer(1, &Target::Unix("/run/any".into())), "not known");
    }
}
