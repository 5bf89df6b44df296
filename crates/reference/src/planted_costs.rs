//! The planted costs and delays: CPU time per request, waits, and stalls of the whole server.

use std::time::Duration;

use tare_sys::clock::{self, Nanos};

use crate::options::Options;

/// The planted values in units of the clock, and the state of their patterns.
pub(crate) struct PlantedCosts {
    spin_ns: u64,
    /// CPU time used beyond the planted amount. Later requests use less for it, because reading the clock takes time
    /// too.
    overspent_ns: u64,
    burnt_ns: u64,
    delay: Duration,
    slow_share: f64,
    slow_delay: Duration,
    requests: u64,
    stall: Option<Stall>,
}

struct Stall {
    every: Duration,
    lasts: Duration,
    next: Nanos,
}

impl PlantedCosts {
    pub(crate) fn new(options: &Options, now: Nanos) -> Self {
        let planted_ns = options.base_ns as f64 * (1.0 + options.spin_percent / 100.0);
        let every = Duration::try_from_secs_f64(options.stall_every_s).unwrap_or_default();
        let lasts = Duration::from_millis(options.stall_ms);
        Self {
            spin_ns: options.spin_ns.saturating_add(planted_ns.max(0.0).round() as u64),
            overspent_ns: 0,
            burnt_ns: 0,
            delay: Duration::from_micros(options.delay_us),
            slow_share: options.slow_share,
            slow_delay: Duration::from_micros(options.slow_us),
            requests: 0,
            stall: (!every.is_zero() && !lasts.is_zero()).then(|| Stall { every, lasts, next: now + every / 2 }),
        }
    }

    /// Uses the planted CPU time of the next request. Returns how long its answer must wait.
    pub(crate) fn burn_for_request(&mut self) -> Duration {
        if self.spin_ns > 0 {
            self.overspent_ns = match self.spin_ns.checked_sub(self.overspent_ns) {
                Some(owed_ns) => {
                    let over_ns = burn(owed_ns);
                    self.burnt_ns += owed_ns + over_ns;
                    over_ns
                }
                None => self.overspent_ns - self.spin_ns,
            };
        }
        let is_slow = is_slow(self.requests, self.slow_share);
        self.requests += 1;
        if is_slow { self.slow_delay } else { self.delay }
    }

    /// The account so far: requests, CPU time of the whole process, and the planted part of it, in nanoseconds.
    pub(crate) fn cpu_account(&self) -> String {
        format!("{} {} {}", self.requests, clock::process_cpu_ns(), self.burnt_ns)
    }

    pub(crate) fn next_stall(&self) -> Option<Nanos> {
        self.stall.as_ref().map(|stall| stall.next)
    }

    /// Stalls the calling thread, and with it the server, if a stall is due.
    pub(crate) fn stall_if_due(&mut self, now: Nanos) {
        let Some(stall) = &mut self.stall else { return };
        if now >= stall.next {
            std::thread::sleep(stall.lasts);
            stall.next = stall.next + stall.every;
        }
    }
}

/// Whether a request belongs to the slow share. Slow ones are evenly spaced, so any long series has exactly that share.
fn is_slow(index: u64, share: f64) -> bool {
    ((index + 1) as f64 * share).floor() > (index as f64 * share).floor()
}

/// Uses CPU time of this thread, which does not advance while other threads run. Returns how much more it used.
fn burn(spin_ns: u64) -> u64 {
    let until = clock::thread_cpu_ns().saturating_add(spin_ns);
    loop {
        let now = clock::thread_cpu_ns();
        if now >= until {
            return now - until;
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_share_is_exact_and_spread_evenly() {
        for (share, of_a_thousand) in [(0.0, 0), (0.01, 10), (0.5, 500), (1.0, 1000)] {
            assert_eq!((0..1000).filter(|index| is_slow(*index, share)).count(), of_a_thousand);
        }
        assert!(is_slow(99, 0.01) && is_slow(199, 0.01));
    }

    #[test]
    fn a_planted_slowdown_is_a_percentage_of_the_base() {
        let options = Options { base_ns: 20_000, spin_percent: 5.0, ..Options::default() };
        assert_eq!(PlantedCosts::new(&options, Nanos::ZERO).spin_ns, 21_000);
    }

    #[test]
    fn later_requests_burn_less_until_an_excess_is_used_up() {
        let mut costs = PlantedCosts::new(&Options { spin_ns: 1_000, ..Options::default() }, Nanos::ZERO);
        costs.overspent_ns = 2_500;
        for owed_ns in [1_500, 500] {
            costs.burn_for_request();
            assert_eq!(costs.overspent_ns, owed_ns);
        }
    }

    #[test]
    fn the_cpu_account_states_the_planted_cpu_time() {
        let mut costs = PlantedCosts::new(&Options { spin_ns: 50_000, ..Options::default() }, Nanos::ZERO);
        for _ in 0..10 {
            costs.burn_for_request();
        }
        let numbers: Vec<u64> = costs.cpu_account().split(' ').map(|number| number.parse().unwrap()).collect();
        let [requests, cpu_ns, burnt_ns] = numbers[..] else { panic!("{numbers:?}") };
        assert_eq!((requests, burnt_ns - costs.overspent_ns), (10, 500_000));
        assert!(cpu_ns > burnt_ns);
    }

    #[test]
    fn burning_uses_cpu_time() {
        let before = clock::thread_cpu_ns();
        let over = burn(200_000);
        assert!(clock::thread_cpu_ns() - before >= 200_000 + over);
    }
}
