//! The setup for tests of the engine: a reference server on one CPU, the generator on another.

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use tare_load::{
    Cancel, Check, LoadSession, Protocol, RequestSpec, Schedule, Sending, SessionSpec, SliceSample, SliceSpec, StopRule,
};
use tare_reference::{Options, ReferenceError, Running, Served};
use tare_sys::affinity::{CpuSet, pin_current_thread};
use tare_sys::clock::{Clock, MonotonicClock};

/// Largest number of requests under way.
const UNDER_WAY: usize = 64;

/// How the requests under way are spread: on connections of one each, or on few connections of HTTP/2, there also as calls of
/// gRPC.
#[derive(Clone, Copy)]
pub enum Spread {
    Connections,
    Streams,
    Calls,
}

impl Spread {
    fn protocol(self) -> (Protocol, usize) {
        match self {
            Self::Connections => (Protocol::Http1 { pipeline: 1 }, UNDER_WAY),
            Self::Streams | Self::Calls => (Protocol::Http2 { streams: 16 }, UNDER_WAY / 16),
        }
    }

    fn request(self) -> RequestSpec {
        match self {
            Self::Connections | Self::Streams => RequestSpec::get("/path0/1").expecting(Check::body_is(*b"1")),
            // The server answers each call with an empty message.
            Self::Calls => RequestSpec::call("/truth.Service/Get", b"").expecting(Check::body_is(*b"")),
        }
    }
}

/// The CPUs, and the length of the measurements.
pub struct Stage {
    server_cpu: usize,
    pub load_cpu: usize,
    pub sending: Sending,
    /// Number of subscribers to pushed messages.
    pub users: usize,
    /// Whether only pushes are tested.
    pub pushes_alone: bool,
    /// Whether only streams of events are tested.
    pub streams_alone: bool,
    /// Whether only HTTP/2 is tested.
    pub http2_alone: bool,
    /// Length for the stalling servers: whole periods of ten seconds.
    pub stalls: u32,
    /// Length of all other measurements.
    pub seconds: u32,
}

/// Both sides' data on one slice.
pub struct Evidence {
    pub sample: SliceSample,
    /// In the order in which the server received the requests.
    pub served: Vec<Served>,
}

impl Stage {
    pub fn from_arguments() -> Result<Self, Box<dyn Error>> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let value = |flag: &str, default: &str| {
            let given = arguments.iter().position(|argument| argument == flag).and_then(|at| arguments.get(at + 1));
            given.map_or(default, String::as_str).parse::<u32>().map_err(|_| format!("{flag} needs a whole number"))
        };
        Ok(Self {
            server_cpu: value("--server-cpu", "0")? as usize,
            load_cpu: value("--load-cpu", "1")? as usize,
            sending: if arguments.iter().any(|argument| argument == "--sleep") {
                Sending::Exact
            } else {
                Sending::Spinning
            },
            users: value("--users", "2500")? as usize,
            streams_alone: arguments.iter().any(|argument| argument == "--streams"),
            http2_alone: arguments.iter().any(|argument| argument == "--http2"),
            pushes_alone: arguments.iter().any(|argument| argument == "--pushes"),
            stalls: value("--stalls", "6")?,
            seconds: value("--seconds", "10")?,
        })
    }

    /// A server with these planted values, on its CPU, that keeps a list of its answers.
    pub fn server(&self, planted: Options) -> Result<Running, ReferenceError> {
        let cpu = CpuSet::from_indices([self.server_cpu]);
        Running::start(Options { keeps_ledger: true, ..planted }, move || {
            // If the kernel refuses, both share a CPU, which the table shows.
            let _ = pin_current_thread(&cpu);
        })
    }

    /// The median time from the server's hand to a client that does nothing but ask, once in a millisecond, and read without a
    /// pause. The machine takes it, and no generator can be faster.
    pub fn way_back_ns(&self) -> Result<u64, Box<dyn Error>> {
        let server = self.server(Options::default())?;
        let (address, cpu) = (server.address(), CpuSet::from_indices([self.load_cpu]));
        let client = std::thread::spawn(move || {
            let _ = pin_current_thread(&cpu);
            read_without_pause(TcpStream::connect(address)?)
        });
        let came_ns = client.join().map_err(|_| "the plain client failed")??;
        let served = server.finish()?;
        let way_ns = came_ns.iter().zip(&served).map(|(came_ns, served)| came_ns.saturating_sub(served.answered.0));
        let mut way_ns: Vec<u64> = way_ns.collect();
        way_ns.sort_unstable();
        Ok(quantile(&way_ns, 0.5))
    }

    /// Loads a server with these planted values, and traces every request.
    pub fn drive(
        &self,
        spread: Spread,
        planted: Options,
        schedule: Schedule,
        duration: Duration,
    ) -> Result<Evidence, Box<dyn Error>> {
        self.drive_as(self.sending, spread, planted, schedule, duration)
    }

    /// The same, with this way of sending.
    pub fn drive_as(
        &self,
        sending: Sending,
        spread: Spread,
        planted: Options,
        schedule: Schedule,
        duration: Duration,
    ) -> Result<Evidence, Box<dyn Error>> {
        let server = self.server(planted)?;
        let (protocol, connections) = spread.protocol();
        let mut session = LoadSession::open(&SessionSpec {
            protocol,
            connections,
            cpus: CpuSet::from_indices([self.load_cpu]),
            ..SessionSpec::new(server.address(), vec![spread.request()])
        })?;
        let slice = SliceSpec {
            sending,
            drain_timeout: Duration::from_secs(3),
            trace: 4_000_000,
            ..SliceSpec::new(schedule, connections, StopRule::Duration(duration))
        };
        let sample = session.run(&slice, &Cancel::new())?;
        drop(session);
        let served = server.finish()?;
        if sample.failed > 0 || served.len() != sample.trace.len() {
            let (failed, traced) = (sample.failed, sample.trace.len());
            return Err(format!("{failed} failed; {traced} were traced and {} served", served.len()).into());
        }
        Ok(Evidence { sample, served })
    }
}

/// When each answer had come, by the monotonic clock.
fn read_without_pause(mut stream: TcpStream) -> std::io::Result<Vec<u64>> {
    const ASKED: usize = 2_000;
    let clock = MonotonicClock;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(true)?;
    let mut came_ns = Vec::with_capacity(ASKED);
    let mut bytes = [0; 4096];
    for _ in 0..ASKED {
        let next_at = clock.now() + Duration::from_millis(1);
        stream.write_all(b"GET /path0/1 HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        // The answer is short, and comes in one piece.
        loop {
            match stream.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => break came_ns.push(clock.now().0),
                Err(error)
                    if error.kind() == ErrorKind::WouldBlock && clock.now() < next_at + Duration::from_secs(2) => {}
                Err(error) => return Err(error),
            }
        }
        while clock.now() < next_at {
            std::hint::spin_loop();
        }
    }
    Ok(came_ns)
}

/// Whether a figure is the quantile, within 1 % or `within_ns`, whichever is larger. Where the values have a step at the
/// quantile, two values more or less decide on which side of it the figure stands.
pub fn is_quantile(sorted: &[u64], q: f64, said_ns: u64, within_ns: u64) -> bool {
    let two = 2.0 / sorted.len() as f64;
    let [least, most] = [q - two, q + two].map(|q| quantile(sorted, q));
    let within = |real: u64| (real / 100).max(within_ns);
    (least.saturating_sub(within(least))..=most + within(most)).contains(&said_ns)
}

/// The value that the share `q` of sorted values does not exceed.
pub fn quantile(sorted: &[u64], q: f64) -> u64 {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

/// The share of sorted values, in percent, that is below `value`. For a wrong percentile it shows whether many values
/// are wrong, or whether the percentile is at a step where one value more or less decides.
pub fn rank_percent(sorted: &[u64], value: u64) -> f64 {
    sorted.partition_point(|&one| one < value) as f64 * 100.0 / sorted.len().max(1) as f64
}

/// `PASS`, or `FAIL` and one more failure.
pub fn verdict(holds: bool, failed: &mut usize) -> &'static str {
    *failed += usize::from(!holds);
    if holds { "PASS" } else { "FAIL" }
}
