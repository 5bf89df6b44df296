//! The setup for tests of the probes: servers of known cost on one CPU, the generator on another.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tare_load::{Cancel, LoadSession, RequestSpec, Schedule, SessionSpec, SliceSample, SliceSpec, StopRule};
use tare_run::prepare::CATALOG_READY;
use tare_sut::probe::hiccup::inside;
use tare_sut::server::{Server, ServerSpec};
use tare_sys::affinity::CpuSet;
use tare_sys::child::SchedulingPolicy;

const CONNECTIONS: usize = 16;

/// The programs, the CPUs, and the length of the measurements.
pub struct Stage {
    tare: String,
    java: String,
    probes: PathBuf,
    folder: PathBuf,
    pub server_cpu: usize,
    load_cpu: usize,
    /// Length of each measurement.
    pub seconds: u32,
}

/// The totals of a server of known cost on a JVM, by its own counters.
pub struct JvmTotals {
    pub requests: u64,
    pub cpu_ns: u64,
    pub allocated_bytes: u64,
    pub collecting_ns: u64,
}

/// The totals of a native server of known cost, by its own counters.
pub struct NativeTotals {
    pub requests: u64,
    pub cpu_ns: u64,
    pub burnt_ns: u64,
}

impl Stage {
    pub fn from(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let value = |flag: &str, default: &str| {
            let at = arguments.iter().position(|argument| argument == flag);
            at.and_then(|at| arguments.get(at + 1)).map_or(default, String::as_str).to_owned()
        };
        let number = |flag: &str, default: &str| {
            value(flag, default).parse::<u32>().map_err(|_| format!("{flag} needs a whole number"))
        };
        let folder = std::env::temp_dir().join(format!("tare-bench-probes-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self {
            tare: value("--tare", "tare"),
            java: value("--java", "java"),
            probes: value("--probes", "").into(),
            folder,
            server_cpu: number("--server-cpu", "0")? as usize,
            load_cpu: number("--load-cpu", "1")? as usize,
            seconds: number("--seconds", "10")?,
        })
    }

    /// A native server that uses this much CPU per request.
    pub fn native(&self, spin_ns: u64) -> Result<Server, Box<dyn Error>> {
        let words = ["reference", "--port", "{port}", "--spin-ns", &spin_ns.to_string()].map(str::to_owned);
        self.start([vec![self.tare.clone()], words.to_vec()].concat(), BTreeMap::new())
    }

    /// A JVM that uses this much CPU and memory per request, with this many thousand live objects, with or without the
    /// agent. Its heap is small. Releasing a large heap takes CPU at the end of the process, which no probe can see.
    pub fn jvm(&self, spin_us: u64, allocate: u64, live: u64, has_agent: bool) -> Result<Server, Box<dyn Error>> {
        let mut command = vec![self.java.clone()];
        command
            .extend(["-XX:+UseG1GC", "-Xms256m", "-Xmx256m", "-XX:ActiveProcessorCount=2", "-cp"].map(str::to_owned));
        command.extend([
            self.probes.display().to_string(),
            "tare.probes.KnownCostServer".to_owned(),
            "{port}".to_owned(),
        ]);
        command.extend([spin_us, allocate, live].map(|number| number.to_string()));
        let option = || (inside::VARIABLE.to_owned(), inside::jvm_option(&self.probes, &self.folder));
        self.start(command, has_agent.then(option).into_iter().collect())
    }

    fn start(&self, command: Vec<String>, env: BTreeMap<String, String>) -> Result<Server, Box<dyn Error>> {
        Ok(Server::start(
            &ServerSpec {
                name: "truth".to_owned(),
                command,
                env,
                directory: None,
                files: BTreeMap::new(),
                upstream: None,
                ready: Some(CATALOG_READY.to_owned()),
                port: None,
                base_url: None,
                counters: None,
                cpus: self.server_cpus(),
                scheduling: SchedulingPolicy::Normal,
                startup_timeout: Duration::from_secs(30),
                // A killed JVM spends no CPU on its end.
                stop_grace: Duration::ZERO,
                log_path: self.folder.join("truth.log"),
            },
            &AtomicBool::new(false),
        )?)
    }

    pub fn server_cpus(&self) -> CpuSet {
        CpuSet::from_indices([self.server_cpu])
    }

    /// The folder of the agents' files.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    pub fn session(&self, server: &Server) -> Result<LoadSession, Box<dyn Error>> {
        Ok(LoadSession::open(&SessionSpec {
            connections: CONNECTIONS,
            cpus: CpuSet::from_indices([self.load_cpu]),
            ..SessionSpec::new(server.address(), vec![RequestSpec::get("/path0/1")])
        })?)
    }

    /// Sends requests at this rate for this time; none may fail.
    pub fn drive(
        &self,
        session: &mut LoadSession,
        per_s: f64,
        length: Duration,
    ) -> Result<SliceSample, Box<dyn Error>> {
        self.run(session, Schedule::constant(per_s), CONNECTIONS, length)
    }

    /// Sends one request after another. The server sleeps before each, however long a request takes.
    pub fn one_by_one(&self, session: &mut LoadSession, length: Duration) -> Result<SliceSample, Box<dyn Error>> {
        self.run(session, Schedule::Closed, 1, length)
    }

    fn run(
        &self,
        session: &mut LoadSession,
        schedule: Schedule,
        connections: usize,
        length: Duration,
    ) -> Result<SliceSample, Box<dyn Error>> {
        let slice = SliceSpec {
            drain_timeout: Duration::from_secs(3),
            ..SliceSpec::new(schedule, connections, StopRule::Duration(length))
        };
        let sample = session.run(&slice, &Cancel::new())?;
        if sample.failed > 0 {
            return Err(format!("{} requests failed", sample.failed).into());
        }
        Ok(sample)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Files left in a folder for temporary files are harmless.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Reads the totals of the server on a JVM, which costs that server some CPU.
pub fn jvm_totals(server: &Server) -> Result<JvmTotals, Box<dyn Error>> {
    let [requests, cpu_ns, allocated_bytes, _, collecting_ns] = read_totals(server)?;
    Ok(JvmTotals { requests, cpu_ns, allocated_bytes, collecting_ns })
}

/// Reads the totals of a native server.
pub fn native_totals(server: &Server) -> Result<NativeTotals, Box<dyn Error>> {
    let [requests, cpu_ns, burnt_ns] = read_totals(server)?;
    Ok(NativeTotals { requests, cpu_ns, burnt_ns })
}

fn read_totals<const N: usize>(server: &Server) -> Result<[u64; N], Box<dyn Error>> {
    let answer = get(server, "/cpu-totals")?;
    let numbers: Vec<u64> = answer.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| answer.into())
}

/// The body of one answer.
pub fn get(server: &Server, path: &str) -> Result<String, Box<dyn Error>> {
    let mut connection = TcpStream::connect(server.address())?;
    connection.set_read_timeout(Some(Duration::from_secs(10)))?;
    // Written in one piece, because this server reads only once.
    connection.write_all(format!("GET {path} HTTP/1.1\r\nHost: truth\r\n\r\n").as_bytes())?;
    let mut bytes = [0; 1024];
    let count = connection.read(&mut bytes)?;
    let answer = String::from_utf8_lossy(&bytes[..count]).into_owned();
    Ok(answer.split_once("\r\n\r\n").ok_or("no answer")?.1.to_owned())
}
