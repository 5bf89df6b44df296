//! The statistics against simulation, algebra and planted truth: one test program for all, so that one is linked.

mod change_points;
mod guarantees;
mod limits;
mod measures;
mod repeated;
mod tables;
mod verdicts;
mod warm_up;

use rand::RngExt;
use rand_pcg::Pcg64;

/// A normal deviate, by Box and Muller.
fn normal(rng: &mut Pcg64) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
