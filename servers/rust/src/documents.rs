//! The JSON documents of `/json` and `/echo`. Both servers use serde, so that no comparison measures a JSON library.

use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub struct Message {
    pub message: &'static str,
}

#[derive(Serialize, Deserialize)]
pub struct Order {
    items: Vec<Item>,
    note: String,
}

#[derive(Serialize, Deserialize)]
struct Item {
    id: i32,
    name: String,
    tags: Vec<String>,
    active: bool,
}
