//! Holds the invariants of ARCHITECTURE.md: the tests of this crate read the sources of all the others. It has no code of its own.
