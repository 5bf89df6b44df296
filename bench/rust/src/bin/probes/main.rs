//! Accuracy and cost of the probes: servers of known cost, native and on a JVM, compared with the figures of the
//! probes. Run it by `bench/probes`.
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

mod cost;
mod pauses;
mod stage;
mod usage;
mod verdicts;

use std::error::Error;
use std::process::ExitCode;

use stage::Stage;
use verdicts::Verdicts;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, milliseconds] = arguments.as_slice()
        && flag == "--burn-ms"
    {
        pauses::burn(milliseconds.parse()?);
        return Ok(ExitCode::SUCCESS);
    }
    let stage = Stage::from(&arguments)?;
    let mut verdicts = Verdicts::default();
    usage::of_a_native_server(&stage, &mut verdicts)?;
    usage::of_a_jvm(&stage, &mut verdicts)?;
    pauses::of_a_jvm(&stage, &mut verdicts)?;
    cost::of_looking(&stage, &mut verdicts)?;
    cost::of_meters(&stage, &mut verdicts)?;
    Ok(if verdicts.conclude() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
