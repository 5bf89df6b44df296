//! Random orders that follow from the plan's seed: which variant starts first, which slice comes next.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Random orders for one place of the plan. Equal seeds and places give equal orders.
#[derive(Debug)]
pub struct RandomOrders(Pcg64Mcg);

impl RandomOrders {
    /// The orders of one place, for example `["fork 3", "http4s.Vanilla"]`.
    pub fn for_place(seed: u64, place: &[&str]) -> Self {
        // FNV-1a: any stable hash of the words would do, and this one is short.
        let mixed = place
            .join("\0")
            .bytes()
            .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Self(Pcg64Mcg::seed_from_u64(mixed))
    }

    pub fn shuffled<T>(&mut self, items: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut items: Vec<T> = items.into_iter().collect();
        items.shuffle(&mut self.0);
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_one_order_and_other_places_have_others() {
        let order = |seed, fork: &str| RandomOrders::for_place(seed, &[fork, "g"]).shuffled(0..20);
        assert_eq!(order(1, "fork 1"), order(1, "fork 1"));
        assert_ne!(order(1, "fork 1"), order(1, "fork 2"));
        assert_ne!(order(1, "fork 1"), order(2, "fork 1"));
        let mut sorted = order(1, "fork 1");
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>(), "nothing is lost");
    }

    #[test]
    fn each_variant_comes_first_about_equally_often() {
        let mut first = [0_u32; 3];
        for fork in 0..3000 {
            first[RandomOrders::for_place(9, &[&fork.to_string()]).shuffled(0..3_usize)[0]] += 1;
        }
        assert!(first.iter().all(|count| (900..1100).contains(count)), "{first:?}");
    }
}
