//! CPU use of a server by kind of thread, while its threads and processes start and end. The total is the processes' CPU
//! clocks, with what they have waited for. The threads' `schedstat` divides it by kind.

mod tracked;

use std::collections::BTreeMap;
use std::time::Duration;

use tare_record::ServerCpu;
use tare_sys::clock::{self, Nanos};
use tare_sys::limits;
use tare_sys::procfs::process::{self, SchedStat, Stat};
use tare_sys::procfs::tree::process_tree;

use super::kind;
use crate::SutError;
use tracked::Process;

/// CPU use of threads, by kind (see [`super::kind`]) and pool.
pub type ByPool = BTreeMap<(&'static str, String), SchedStat>;

/// The share of tare's open files that one probe may use; connections need the rest.
const SHARE_OF_FILES: u64 = 16;
/// How often new child processes are searched for. A search through `/proc` costs more than the rest of a sample.
const SEARCH_EVERY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuSample {
    /// The moment of the sample, on the monotonic clock.
    pub at_ns: u64,
    pub total_ns: u64,
    /// The use by kind, with a remainder, so that it adds up to the total.
    pub by_pool: ByPool,
}

impl CpuSample {
    /// The sum of several servers, all sampled now.
    #[must_use]
    pub fn sum(all: &[Self]) -> Self {
        let mut sum = Self::default();
        for one in all {
            sum.at_ns = sum.at_ns.max(one.at_ns);
            sum.total_ns += one.total_ns;
            add_pools(&mut sum.by_pool, &one.by_pool);
        }
        sum
    }

    /// The use since `earlier`, without the requests and the cost of the probes.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> ServerCpu {
        let total_ns = self.total_ns.saturating_sub(earlier.total_ns);
        // Only this time's remainder counts. By now the threads have the CPU time that an earlier one held for them.
        let of_threads = self.by_pool.iter().filter(|((of, _), _)| *of != kind::EXITED);
        let before = |key: &(&'static str, String)| earlier.by_pool.get(key).copied().unwrap_or_default();
        let mut by_pool: ByPool = of_threads.map(|(key, now)| (key.clone(), now.since(before(key)))).collect();
        let known: u64 = by_pool.values().map(|pool| pool.cpu_ns).sum();
        add_remainder(&mut by_pool, total_ns.saturating_sub(known));
        ServerCpu {
            wall_ns: self.at_ns.saturating_sub(earlier.at_ns),
            total_ns,
            by_kind: figure_by_kind(&by_pool, |pool| pool.cpu_ns),
            by_pool: figure_by_pool(&by_pool, |pool| pool.cpu_ns),
            waiting_by_kind: figure_by_kind(&by_pool, |pool| pool.waiting_ns),
            switches_by_pool: figure_by_pool(&by_pool, |pool| pool.switches),
            ..ServerCpu::default()
        }
    }
}

/// CPU that a server uses without requests, as a share of one core; 1.0 is one core busy all the time. The JIT and the
/// collector do not count, because they may still be busy with earlier requests. Nor does our agent.
pub fn share_at_rest(used: &ServerCpu) -> f64 {
    let others: u64 = [kind::JIT, kind::GC, kind::PROBE].into_iter().filter_map(|kind| used.by_kind.get(kind)).sum();
    let used_ns = used.total_ns.saturating_sub(others);
    if used.wall_ns == 0 { 0.0 } else { used_ns as f64 / used.wall_ns as f64 }
}

/// Follows the process tree of one server.
#[derive(Debug)]
pub struct CpuProbe {
    root: u32,
    processes: BTreeMap<u32, Process>,
    processes_known_at: Nanos,
    files_left: usize,
}

impl CpuProbe {
    pub fn new(root: u32) -> Result<Self, SutError> {
        let files_left = usize::try_from(limits::raise_open_files(0) / SHARE_OF_FILES).unwrap_or(usize::MAX);
        let mut probe = Self { root, processes: BTreeMap::new(), processes_known_at: Nanos::ZERO, files_left };
        probe.find_new_processes()?;
        Ok(probe)
    }

    /// Takes a sample: 3 µs of CPU per thread (60 µs for a JVM with 21), mostly in the kernel. Fails when the root has
    /// ended, or a JVM's compilers cannot be told from the rest. The kernel updates a running thread's `schedstat` only
    /// at its ticks: a few milliseconds are in the remainder until then.
    pub fn take_sample(&mut self) -> Result<CpuSample, SutError> {
        if clock::now() >= self.processes_known_at + SEARCH_EVERY {
            self.find_new_processes()?;
        }
        self.refresh(Process::update)?;
        if self.processes.values().any(Process::hides_its_compilers) {
            return Err(SutError::Other(
                "this kernel does not count the CPU of threads (CONFIG_SCHED_INFO)".to_owned(),
            ));
        }
        let mut by_pool = ByPool::new();
        let total_ns = self.processes.values().map(|process| process.add_to(&mut by_pool)).sum();
        Ok(CpuSample { at_ns: clock::now().0, total_ns, by_pool })
    }

    /// CPU time so far in nanoseconds; after the end of the root, as it was seen last.
    pub fn cpu_ns(&mut self) -> u64 {
        let _ = self.refresh(|process, pid, _| process.read_clock(pid));
        self.processes.values().map(Process::used_ns).sum()
    }

    /// Looks at all processes; fails when the root has ended. What another one used stays with its parent.
    fn refresh(&mut self, look: fn(&mut Process, u32, &mut usize) -> Result<(), SutError>) -> Result<(), SutError> {
        // First: of a child that ends from then on, nothing is counted twice.
        self.processes.iter_mut().for_each(|(pid, process)| process.read_reaped(*pid));
        let mut ended = Vec::new();
        for (&pid, process) in &mut self.processes {
            match look(process, pid, &mut self.files_left) {
                Err(gone) if pid == self.root => return Err(gone),
                Err(_) if !process::exists(pid) => ended.push(pid),
                _ => {}
            }
        }
        // Children mostly have larger numbers than their parents, and come first.
        ended.into_iter().rev().for_each(|pid| self.hand_over(pid));
        Ok(())
    }

    fn hand_over(&mut self, pid: u32) {
        let Some(ended) = self.processes.remove(&pid) else { return };
        self.files_left += ended.open_files();
        // Nobody of the server waits for an orphan.
        let is_orphan = !self.processes.contains_key(&ended.parent);
        let heir = if is_orphan { self.root } else { ended.parent };
        if let Some(heir) = self.processes.get_mut(&heir) {
            heir.take_over(&ended, !is_orphan);
        }
    }

    /// The processes of the server that have not ended.
    pub fn processes(&self) -> impl Iterator<Item = u32> + '_ {
        self.processes.keys().copied()
    }

    /// Those of them that live now. The search for new ones takes about a millisecond.
    pub fn find_living(&mut self) -> Vec<u32> {
        // Where processes cannot be listed, the known ones are left.
        let _ = self.find_new_processes();
        let is_alive = |pid: &u32| Stat::of_process(*pid).is_ok_and(|stat| stat.is_alive());
        self.processes().filter(is_alive).collect()
    }

    fn find_new_processes(&mut self) -> Result<(), SutError> {
        for pid in process_tree(self.root)? {
            self.processes.entry(pid).or_insert_with(|| Process::new(pid));
        }
        self.processes_known_at = clock::now();
        Ok(())
    }
}

fn add_remainder(sum: &mut ByPool, ns: u64) {
    *sum.entry((kind::EXITED, kind::EXITED.to_owned())).or_default() +=
        SchedStat { cpu_ns: ns, ..SchedStat::default() };
}

fn add_pools(sum: &mut ByPool, more: &ByPool) {
    more.iter().for_each(|(key, used)| *sum.entry(key.clone()).or_default() += *used);
}

fn figure_by_kind(used: &ByPool, figure: fn(&SchedStat) -> u64) -> BTreeMap<String, u64> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    used.iter().for_each(|((kind, _), used)| *sums.entry((*kind).to_owned()).or_default() += figure(used));
    sums
}

/// One figure of each pool of threads by kind, without zeros.
fn figure_by_pool(used: &ByPool, figure: fn(&SchedStat) -> u64) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut kinds: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for ((kind, pool), used) in used {
        let pools = kinds.entry((*kind).to_owned()).or_default();
        pools.extend(Some((pool.clone(), figure(used))).filter(|(_, figure)| *figure > 0));
    }
    kinds
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    fn burn() {
        let start = clock::thread_cpu_ns();
        while clock::thread_cpu_ns() < start + 30_000_000 {}
    }

    #[test]
    fn a_server_at_rest_is_not_blamed_for_what_was_asked_before_nor_for_our_agent() {
        let by_kind = [(kind::JIT, 20), (kind::GC, 15), (kind::PROBE, 5), (kind::APPLICATION, 8), (kind::VM, 2)];
        let by_kind = by_kind.map(|(kind, ns)| (kind.to_owned(), ns)).into();
        let rest = ServerCpu { wall_ns: 100, total_ns: 50, by_kind, ..ServerCpu::default() };
        assert!((share_at_rest(&rest) - 0.1).abs() < 1e-12);
        assert_eq!(share_at_rest(&ServerCpu::default()), 0.0);
    }

    fn named(name: &str, work: impl FnOnce() + Send + 'static) -> std::thread::JoinHandle<()> {
        std::thread::Builder::new().name(name.into()).spawn(work).unwrap()
    }

    fn pool(sample: &CpuSample, name: &str) -> u64 {
        sample.by_pool.get(&(kind::APPLICATION, name.to_owned())).map_or(0, |used| used.cpu_ns)
    }

    #[test]
    fn cpu_of_a_thread_goes_to_its_pool_and_stays_there_after_its_death() {
        let mut probe = CpuProbe::new(std::process::id()).unwrap();
        let (burnt, seen) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
        let worker = named("burner-7", move || {
            burn();
            burnt.0.send(()).unwrap();
            let _done = seen.1.recv();
        });
        burnt.1.recv().unwrap();
        let living = probe.take_sample().unwrap();
        assert!(pool(&living, "burner") >= 20_000_000, "{living:?}");
        seen.0.send(()).unwrap();
        worker.join().unwrap();
        assert!(pool(&probe.take_sample().unwrap(), "burner") >= 20_000_000);
    }

    #[test]
    fn what_a_child_has_used_stays_after_its_end() {
        let burns =
            "exec 3<&0; (i=0; while [ $i -lt 90000 ]; do i=$((i+1)); done; echo; read x <&3) & wait; echo; read x";
        let mut server =
            Command::new("sh").args(["-c", burns]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut orders = server.stdin.take().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        let mut probe = CpuProbe::new(server.id()).unwrap();
        probe.take_sample().unwrap();
        let before = probe.cpu_ns();
        orders.write_all(b"\n").unwrap();
        lines.next().unwrap().unwrap();
        let (after, little_ns) = (probe.cpu_ns(), 2_000_000);
        assert!(before > 2 * little_ns && after + little_ns > before, "{before} and then {after}");
        assert_eq!(probe.processes().collect::<Vec<_>>(), [server.id()], "it is no longer looked at");
        drop(orders);
        server.wait().unwrap();
    }

    #[test]
    fn what_children_use_that_nobody_sees_is_counted() {
        let burns = "while read x; do (i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); echo; done";
        let mut server =
            Command::new("sh").args(["-c", burns]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut orders = server.stdin.take().unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut probe = CpuProbe::new(server.id()).unwrap();
        let (first, before) = (probe.take_sample().unwrap(), probe.cpu_ns());
        orders.write_all(b"\n").unwrap();
        lines.next().unwrap().unwrap();
        let (used, after) = (probe.take_sample().unwrap().since(&first), probe.cpu_ns());
        let little_ns = 5_000_000;
        assert!(used.total_ns > little_ns && used.by_kind[kind::EXITED] > little_ns, "{used:?}");
        assert!(after > before + little_ns, "{before} and then {after}");
        drop(orders);
        server.wait().unwrap();
    }

    #[test]
    fn without_a_file_to_spare_the_figures_are_the_same() {
        let mut probe = CpuProbe::new(std::process::id()).unwrap();
        probe.files_left = 0;
        let before = probe.take_sample().unwrap();
        burn();
        let used = probe.take_sample().unwrap().since(&before);
        assert!(used.total_ns >= 30_000_000, "{used:?}");
        assert!(probe.processes.values().all(|process| process.open_files() == 0));
    }

    #[test]
    fn a_process_that_is_gone_is_an_error() {
        assert!(CpuProbe::new((1 << 22) + 1).and_then(|mut probe| probe.take_sample()).is_err());
    }
}
