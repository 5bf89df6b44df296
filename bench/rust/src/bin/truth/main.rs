//! Accuracy of the engine: loads the reference server, whose own list has the true duration of each answer, and
//! compares the engine's figures with it. Run it by `bench/truth`.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

mod exponential;
mod latency;
mod pushes;
mod sends;
mod stage;
mod streams;

use std::error::Error;
use std::process::ExitCode;

use stage::Stage;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let stage = Stage::from_arguments()?;
    let mut failed = 0;
    if stage.http2_alone {
        failed += latency::over_http2(&stage)?;
        failed += latency::of_calls(&stage)?;
        return Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if stage.streams_alone {
        failed += streams::of_planted_times(&stage)?;
        return Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if !stage.pushes_alone {
        failed += latency::of_a_stalling_server(&stage)?;
        failed += latency::of_known_delays(&stage)?;
        failed += latency::over_http2(&stage)?;
        failed += latency::of_calls(&stage)?;
        failed += sends::lateness(&stage)?;
        failed += sends::poisson(&stage)?;
        failed += streams::of_planted_times(&stage)?;
    }
    failed += pushes::of_a_stalling_server(&stage)?;
    println!("\n{}", if failed == 0 { "all of it holds".to_owned() } else { format!("{failed} of it do not hold") });
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
