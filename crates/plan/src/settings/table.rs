//! The table of settings. Its order is the order of the help, of `--dry-run` and of docs/SETTINGS.md.

use tare_sample::ServerClock;
use tare_stats::repeated::MAX_LOOKS;
use tare_units::{CpuSet, Percent, Span};

use super::define::define_settings;
use super::resolver::{Known, SettingResolver, default_jvm_cpus, push_rounds, sequential_slices};
use super::row::{Row, Section, SettingInfo, off_unless, on_unless, value};
use super::value::{SettingValue, read_value};
use crate::PlanError;
use crate::choices::{Engine, ForkCovers, GroupOrder, PriorUse, SchedulingPolicy};
use crate::plan::{Forks, HttpVersion, Mode, Plan, Rate, Warmup};
use crate::slo::{Curve, LoadBy, Slo};
use crate::turn::{SHORTEST_TURN, TurnLength};

define_settings! {
    section What {
        /// Servers to measure, comma separated; globs such as 'http4s.*' work.
        servers: Vec<String> = value("SERVERS").short('s').separated_by(',').resolved_with_groups();
        /// Scenarios to measure, comma separated; globs work.
        scenarios: Vec<String> = value("SCENARIOS").short('m').separated_by(',').resolved_with_groups();
        /// Compare every server with this one, instead of with the baseline that the catalog names for it.
        baseline: String = value("SERVER").resolved_with_groups();
        /// Compare a server with a second start of itself (A/A): shows the noise of this machine.
        aa: String = value("SERVER").conflicts(&["servers", "baseline"]).resolved_with_groups();
        /// Library versions, comma separated; each is compared with the baseline built for that version.
        versions: Vec<String> = value("VERSIONS").separated_by(',').in_profile().resolved_with_groups();
        /// Protocol where neither server nor scenario states one: http1, h2c (HTTP/2 without TLS) or h2 (HTTP/2 over TLS).
        protocol: HttpVersion = value("VERSION").in_profile().resolved_with_groups();
        /// Requests that a connection of HTTP/2 carries at a time, where neither server nor scenario states it.
        streams: u32 = value("N").in_profile().resolved_with_groups();
        /// Whether a new connection over TLS may resume an earlier session, where neither server nor scenario states it.
        resumption: bool = on_unless("no-resumption", "Begin each connection over TLS with a full handshake, and resume no session.")
            .in_profile().resolved_with_groups();
    }
    section Load {
        /// Closed-loop users, one connection each; also the number of connections of an open-loop slice.
        users: u32 = value("USERS").short('u').in_profile()
            .default(128)
            .check("write 1 to 60000 users", |users, _| (1..=60_000).contains(users))
            .fills(|to, users| to.load.users = users);
        /// Sequential run: measure one cell after another for this long each, with one start per server and no intervals.
        duration: Span = value("SECONDS").short('d').conflicts(&["forks", "budget", "precision", "aa"])
            .when(|known| known.is_sequential())
            .check("must be at least 100ms", |duration, _| *duration >= Span::from_millis(100))
            .fills(|to, duration| to.slices = sequential_slices(duration));
        /// Request rate of open-loop slices: a number per second, or a share of the slowest variant's throughput.
        rate: Rate = value("RATE").short('r').in_profile()
            .default(Rate::OfCapacity { share: 0.5 })
            .fills(|to, rate| to.load.rate = rate);
        /// A request has failed when its response has not come after this time.
        timeout: Span = value("SPAN")
            .default(Span::from_secs(10))
            .check("must be at least 1ms", |timeout, _| *timeout >= Span::from_millis(1))
            .fills(|to, timeout| to.load.timeout = timeout);
        /// TCP congestion control of the generator's sockets.
        congestion: String = value("NAME")
            .default_from("the kernel's", |_| "default".to_owned())
            .fills(|to, congestion| to.load.congestion = congestion);
        /// Busy-wait in open-loop slices where no server runs on the generator's cores: requests leave and are stamped on time.
        spin: bool = on_unless(
            "no-spin",
            "Do not busy-wait in open-loop slices, even on dedicated cores. Saves CPU; adds wake-up delay to send times and latencies.",
        )
            .fills(|to, spin| to.load.spin = spin);
        /// Clock that stamps pushed messages: same (this machine's), estimate (another machine's; its offset is estimated) or auto (same if the server runs on this machine, otherwise estimate).
        server_clock: ServerClock = value("CLOCK")
            .default(ServerClock::Auto)
            .fills(|to, clock| to.load.server_clock = clock);
        /// With -d: other load tools (wrk, gatling), comma separated. Each drives every cell after tare, as a cross-check.
        engine: Vec<Engine> = value("TOOLS").separated_by(',')
            .default(Vec::new())
            .check(
                "cross-checks the cells of a sequential run; say how long each lasts, such as -d 10",
                |engines, known| engines.is_empty() || known.is_sequential(),
            )
            .fills(|to, mut engines| {
                engines.sort();
                engines.dedup();
                to.engines = engines;
            });
    }
    section Stop {
        /// Stop when every comparison is decided, or after this long. Builds are not counted.
        budget: Span = value("SPAN").conflicts(&["forks"])
            .when(|known| known.is_compared() && !known.forks_are_fixed())
            .default(Span::from_secs(300))
            .check("must be at least 1s", |budget, _| *budget >= Span::from_secs(1))
            .fills(|to, budget| to.stop.forks = Forks::UntilDecided { budget, at_least: 0, max_forks: None });
        /// Measure exactly this many starts (forks) of each server. Intervals are Student's t.
        forks: u32 = value("N")
            .when(|known| known.is_sequential() || known.forks_are_fixed())
            .otherwise("as many as the decision takes")
            .pinned(|known| known.is_sequential().then_some(1))
            .check("write 1 to 10000 starts", |forks, _| (1..=10_000).contains(forks))
            .fills(|to, count| to.stop.forks = Forks::Fixed { count });
        /// Fewest starts of each server before a comparison may be decided.
        at_least: u32 = value("N").conflicts_as_flag(&["forks"])
            .when(|known| known.is_compared() && !known.forks_are_fixed())
            .default(3)
            .check("an interval needs at least 3 starts; write 3 to 200", |at_least, _| {
                (3..=MAX_LOOKS).contains(at_least)
            })
            .fills(|to, given| if let Forks::UntilDecided { at_least, .. } = &mut to.stop.forks { *at_least = given });
        /// Starts of each server that the intervals are planned for. A run may make more, and its intervals are wider then. With --budget, a suite's number does not count.
        max_forks: u32 = value("N").conflicts_as_flag(&["forks"])
            .when(|known| known.is_compared() && !known.forks_are_fixed())
            .otherwise("the starts that fit into the budget")
            .check("write at least the value of --at-least, and at most 200", |max_forks, known| {
                (known.so_far.at_least.unwrap_or(3)..=MAX_LOOKS).contains(max_forks)
            })
            .fills(|to, given| if let Forks::UntilDecided { max_forks, .. } = &mut to.stop.forks { *max_forks = Some(given) });
        /// Also stop when every interval is within ± this many percent; 0 turns this rule off.
        precision: Percent = value("PERCENT")
            .when(|known| known.is_compared())
            .default(Percent(0.0))
            .fills(|to, precision| to.stop.precision = precision.0);
        /// Once a difference is certain, measure until its interval is at most ± this many percent, or ± a quarter of the difference; 100 stops at once.
        half_width: Percent = value("PERCENT")
            .default(Percent(0.04))
            .check("write more than 0 percent and at most 100", |width, _| width.0 > 0.0 && width.0 <= 1.0)
            .fills(|to, width| to.stop.half_width = width.0);
        /// Differences smaller than this many percent do not matter; 5 by default where a server runs on a JVM.
        region: Percent = value("PERCENT")
            .default(Percent(0.02))
            .check("write more than 0 and less than 50 percent", |region, _| region.0 > 0.0 && region.0 < 0.5)
            .fills(|to, region| to.stop.region = region.0);
        /// Error probability of the run: all its comparisons together. From ten comparisons on, the share of the stated differences that is wrong on average.
        alpha: f64 = value("ALPHA")
            .default(0.05)
            .check("write a probability from 0.000001 to less than 0.5", |alpha, _| (1e-6..0.5).contains(alpha))
            .fills(|to, alpha| to.stop.alpha = alpha);
        /// Start each baseline a second time and compare the two starts (A/A control): gives the noise floor.
        control: bool = off_unless(
            "control",
            "Also start each baseline a second time and compare the two starts (A/A control): gives the noise floor. The first three starts do so, and every second one after; they take half as long again.",
        )
            .when(|known| known.is_compared());
        /// auto narrows intervals by how much the starts of other comparisons scatter: those of this run if it has ten, else those of earlier runs on this machine. off takes a comparison's own starts alone.
        prior: PriorUse = value("USE")
            .when(|known| known.is_compared())
            .default(PriorUse::Auto)
            .fills(|to, prior| to.stop.prior = prior);
        /// Which group gets the next start: the one with the fewest (even), or the first without a verdict (listed). Groups with a verdict wait for the others.
        group_order: GroupOrder = value("ORDER")
            .when(|known| known.is_compared())
            .default(GroupOrder::Even)
            .fills(|to, order| to.stop.order = order);
        /// What one start of a server measures: all scenarios of its group (group), or one (scenario).
        fork_covers: ForkCovers = value("WHAT")
            .default(ForkCovers::Group);
    }
    section WarmUp {
        /// Warm up until throughput and CPU are steady (steady), or for a fixed time such as 5s.
        warmup: Warmup = value("WARMUP").in_profile()
            .default_from("steady; 5s with -d", |known| match known.mode {
                Mode::Sequential => Warmup::Fixed { span: Span::from_secs(5), users: 0 },
                Mode::Compared | Mode::Profiled => Warmup::until_steady(),
            })
            .fills(|to, warmup| to.warmup = warmup);
        /// Longest warm-up of a scenario after a server start; each server beyond the fourth adds a quarter.
        warmup_cap: Span = value("SPAN").in_profile()
            .when(|known| known.warms_up_until_steady())
            .default(Span::from_secs(40))
            .check("must be above 0", |longest, _| !longest.0.is_zero())
            .fills(|to, longest| if let Warmup::UntilSteady { cap, .. } = &mut to.warmup { *cap = longest });
        /// The same for the first scenario after a server start, which also warms code that all scenarios share.
        warmup_first_cap: Span = value("SPAN").in_profile()
            .when(|known| known.warms_up_until_steady())
            .default_from("the value of --warmup-cap", |known| known.so_far.warmup_cap.unwrap_or_default())
            .check("must be above 0", |longest, _| !longest.0.is_zero())
            .fills(|to, longest| if let Warmup::UntilSteady { first_cap, .. } = &mut to.warmup { *first_cap = longest });
        /// Closed-loop users of a warm-up of fixed length.
        warmup_users: u32 = value("N").in_profile()
            .when(|known| !known.warms_up_until_steady())
            .default(3)
            .check("must be at least 1", |users, _| *users >= 1)
            .fills(|to, given| if let Warmup::Fixed { users, .. } = &mut to.warmup { *users = given });
        /// Servers may use all cores during the warm-up, so that the JIT compiler has room.
        warmup_all_cpus: bool = on_unless(
            "warmup-pinned",
            "Keep servers on their own cores during the warm-up, instead of letting the JIT compiler use all cores.",
        )
            .in_profile()
            .when(|known| known.warms_up_until_steady())
            .fills(|to, on_all| if let Warmup::UntilSteady { all_cpus, .. } = &mut to.warmup { *all_cpus = on_all });
    }
    section Slices {
        /// Length of one slice.
        slice: Span = value("SPAN")
            .when(|known| !known.is_sequential())
            .default_from("1s (500ms in a suite with servers of its own)", |known| {
                let catalog_only = !known.has_own_servers;
                if catalog_only { Span::from_secs(1) } else { Span::from_millis(500) }
            })
            .check("write 20ms to 10m", |slice, _| *slice >= Span::from_millis(20) && *slice <= Span::from_secs(600))
            .fills(|to, length| to.slices.length = length);
        /// Start of each slice that is not scored.
        discard: Span = value("SPAN")
            .when(|known| !known.is_sequential())
            .default(Span::from_millis(100))
            .check("must be at most half of the slice", |discard, known| {
                known.so_far.slice.is_none_or(|slice| discard.0 * 2 <= slice.0)
            })
            .fills(|to, discard| to.slices.discard = discard);
        /// Length of the turns in which the servers of a closed-loop round alternate: auto (three times the time to drain, at least 20ms), a time, or whole (no turns, one slice after the other).
        turn: TurnLength = value("SPAN")
            .when(|known| known.is_compared())
            .default(TurnLength::Auto)
            .check("write auto, whole, or 20ms to half of the slice", |turn, known| match turn {
                TurnLength::Whole | TurnLength::Auto => true,
                TurnLength::Fixed(length) => {
                    length.0 >= SHORTEST_TURN && known.so_far.slice.is_none_or(|slice| length.0 * 2 <= slice.0)
                }
            })
            .fills(|to, turn| to.slices.turn = turn);
        /// Rounds of closed-loop slices per fork: they measure throughput.
        saturating: u32 = value("ROUNDS")
            .when(|known| !known.is_sequential())
            .default(5)
            .check("one of saturating, fixed and latency must be above 0", |_, known| known.has_load())
            .check("saturating and fixed must not exceed 100000 rounds together", |_, known| {
                known.slice_rounds() <= 100_000
            })
            .fills(|to, rounds| to.slices.saturating = rounds);
        /// Rounds of slices at one constant rate for all servers, per fork: they measure CPU per request at equal load.
        fixed: u32 = value("ROUNDS").when(|known| !known.is_sequential()).default(0).fills(|to, rounds| to.slices.fixed = rounds);
        /// Longest time for latency on each server per start; 0s for none. Requests arrive at random (Poisson) until each server has collected garbage five times and answered 10000 of them.
        latency: Span = value("SPAN")
            .when(|known| !known.is_sequential())
            .default_from("12s (5s in a suite with servers of its own)", |known| {
                Span::from_secs(if known.has_own_servers { 5 } else { 12 })
            })
            .check("write 0s, or at least four times the discarded head and at most 10m", |latency, known| {
                let head = known.so_far.discard.unwrap_or_default().0;
                latency.is_zero() || (latency.0 >= head * 4 && *latency <= Span::from_secs(600))
            })
            .fills(|to, latency| to.slices.latency = latency);
        /// Rounds of pushed messages per fork, in scenarios in which the server pushes.
        push: u32 = value("ROUNDS")
            .when(|known| !known.is_sequential())
            .default_from("1 (with streams of events as many as 200 of them need, within 30s)", push_rounds)
            .check("write 1 to 100 rounds", |rounds, _| (1..=100).contains(rounds))
            .fills(|to, rounds| to.slices.push = rounds);
        /// Messages that each user receives, in scenarios in which the server pushes.
        messages: u32 = value("N")
            .otherwise("the scenario's")
            .check("write 2 to 1000000 messages", |messages, _| (2..=1_000_000).contains(messages));
    }
    section Capacity {
        /// Search for the largest load whose latencies stay below a curve such as 'p90<2ms,p99<4ms,p99.9<8ms', instead of running slices.
        slo: Curve = value("CURVE").conflicts(&["duration"])
            .when(|known| known.is_compared())
            .fills(|to, curve| to.slo = Some(Slo { curve, ..Slo::default() }));
        /// With --slo: what the load is counted in, users or rate. Where the server pushes, it is always users.
        slo_by: LoadBy = value("WHAT").requires(&["slo"])
            .when(|known| known.so_far.slo.is_some())
            .default(LoadBy::Rate)
            .fills(|to, by| if let Some(slo) = &mut to.slo { slo.by = by });
        /// With --slo: the largest number of users, or the highest rate per second, that is tried.
        slo_most: u32 = value("N").requires(&["slo"])
            .when(|known| known.so_far.slo.is_some())
            .default_from("1000000 per second, or 4096 users", |known| match known.so_far.slo_by {
                Some(LoadBy::Users) => 4_096,
                Some(LoadBy::Rate) | None => 1_000_000,
            })
            .check("write at least 1, and at most 60000 users", |most, known| {
                *most >= 1 && (known.so_far.slo_by == Some(LoadBy::Rate) || *most <= 60_000)
            })
            .fills(|to, most| if let Some(slo) = &mut to.slo { slo.limit_to(most) });
        /// With --slo: length of one try.
        slo_each: Span = value("SPAN").requires(&["slo"])
            .when(|known| known.so_far.slo.is_some())
            .default(Span::from_secs(2))
            .check("must be at least 200ms, and twice the discarded head", |each, known| {
                let head = known.so_far.discard.unwrap_or_default().0;
                *each >= Span::from_millis(200) && each.0 >= head * 2
            })
            .fills(|to, each| if let Some(slo) = &mut to.slo { slo.each = each });
    }
    section Machine {
        /// Machine on which the servers run, such as ssh://user@host:22. The program and the servers' files are sent there. The load comes from here, or from --agents.
        server_host: String = value("HOST").in_profile()
            .otherwise("this machine")
            .fills(|to, host| to.machine.server_host = Some(host));
        /// With --server-host: the address on which the servers listen.
        server_address: String = value("ADDRESS").in_profile()
            .otherwise("that at which ssh reaches the machine")
            .check("means nothing without --server-host, the machine of the servers", |_, known| {
                known.so_far.server_host.is_some()
            })
            .fills(|to, address| to.machine.server_address = Some(address));
        /// Let agents make the load, each an equal share: ssh://user@host:22, k8s:8 (pods), k8s:job/NAME (a job that you applied), local:2 (processes on this machine), or several of them.
        agents: Vec<String> = value("PLACE,…").separated_by(',')
            .otherwise("this process")
            .fills(|to, places| to.machine.agents = places);
        /// Cores of the servers, such as 0 or 0,2-3.
        server_cpus: CpuSet = value("CPUS").in_profile()
            .default_from("all but those of the generator; all with --server-host or --agents elsewhere", |known| known.machine.split_cpus().0)
            .fills(|to, cpus| to.machine.server_cpus = cpus.to_string());
        /// Cores of the generator, such as 1 or 4-5; each runs one worker thread.
        load_cpus: CpuSet = value("CPUS").in_profile()
            .default_from("the last quarter of the CPUs, with all hardware threads of their cores; all with --server-host", |known| known.machine.split_cpus().1)
            .fills(|to, cpus| to.machine.load_cpus = cpus.to_string());
        /// -XX:ActiveProcessorCount of every JVM server. Servers size their thread pools by it.
        jvm_cpus: u32 = value("N").in_profile()
            .default_from("the number of --server-cpus, at least 2", default_jvm_cpus)
            .check("must be at least 1", |cpus, _| *cpus >= 1)
            .fills(|to, cpus| to.machine.jvm_cpus = cpus);
        /// Options of every JVM server, separated by spaces. They replace the catalog's.
        jvm_options: Vec<String> = value("OPTIONS").separated_by(' ').allow_hyphens().in_profile()
            .default_from("the catalog's", |known| known.inventory.jvm_options.clone())
            .fills(|to, options| to.machine.jvm_options = options);
        /// Home of the JDK that runs the servers.
        java: String = value("HOME").in_profile()
            .default_from("the newest JDK found", |_| "newest".to_owned())
            .fills(|to, java| to.machine.java = java);
        /// A server that is not ready after this time has failed.
        startup_timeout: Span = value("SPAN").in_profile()
            .default(Span::from_secs(30))
            .check("must be above 0", |timeout, _| !timeout.0.is_zero())
            .fills(|to, timeout| to.machine.startup_timeout = timeout);
        /// Time between SIGTERM and SIGKILL when a server is stopped.
        stop_grace: Span = value("SPAN").in_profile()
            .default(Span::from_secs(3))
            .fills(|to, grace| to.machine.stop_grace = grace);
        /// Scheduling policy of every server's threads: normal, or batch (SCHED_BATCH: a thread that wakes up does not preempt another).
        server_scheduling: SchedulingPolicy = value("POLICY").in_profile()
            .default_from("batch; normal with -d", |known| match known.mode {
                Mode::Sequential => SchedulingPolicy::Normal,
                Mode::Compared | Mode::Profiled => SchedulingPolicy::Batch,
            })
            .fills(|to, policy| to.machine.scheduling = policy);
        /// Seed of every random order and of random arrivals.
        seed: u64 = value("SEED").in_profile()
            .default_from("from the clock, and recorded", |known| known.fallback_seed)
            .fills(|to, seed| to.seed = seed);
    }
    section Probes {
        /// Measure hiccups: how late a thread wakes on the servers' cores, and inside each JVM.
        hiccups: bool = off_unless("hiccups", "Also measure hiccups: how late a thread wakes on the servers' cores, and inside each JVM.")
            .in_profile().fills(|to, hiccups| to.probes.hiccups = hiccups);
    }
}
