//! Handshake and frames, however they are cut into pieces.
