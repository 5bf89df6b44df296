//! Drives an address by a schedule of its own: ten requests at once, ten times a second.
//! `own_schedule 127.0.0.1:8080 /path0/1`
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use tare_load::{
    Cancel, CustomSchedule, LoadSession, RequestSpec, Schedule, SessionSpec, SliceSpec, StopRule, Watched,
};

/// Requests that come together.
const BURST: u32 = 10;
/// From one burst to the next.
const PAUSE: Duration = Duration::from_millis(100);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address: SocketAddr = arguments.next().ok_or("give an address and a port, such as 127.0.0.1:8080")?.parse()?;
    let path = arguments.next().unwrap_or_else(|| "/".to_owned());
    // Intended starts, counted from the start of the slice; the seed is of no use to a schedule without chance.
    let bursts = CustomSchedule::new(|_seed| (0..).map(|nth: u32| PAUSE * (nth / BURST)));
    let connections = BURST as usize;
    let spec = SessionSpec { connections, ..SessionSpec::new(address, vec![RequestSpec::get(&path)]) };
    let mut session = LoadSession::open(&spec)?;
    let stop = StopRule::Duration(Duration::from_secs(2));
    let slice = SliceSpec::new(Schedule::Custom(bursts), connections, stop);
    let mut watcher = |watched: Watched<'_>| match watched {
        Watched::Opening(opening) => println!("{} of {} connections are open", opening.open, opening.of),
        Watched::Interval(part) => println!("{} answers in this interval", part.completed_in_slice),
        _ => {}
    };
    let sample = session.run_watched(&slice, Some(Duration::from_millis(500)), &Cancel::new(), &mut watcher)?;
    let worst = Duration::from_nanos(sample.response.max_ns().unwrap_or(0));
    println!("{} offered, {} right, the slowest after {worst:.1?}", sample.offered, sample.ok);
    Ok(())
}
