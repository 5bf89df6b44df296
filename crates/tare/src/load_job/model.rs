//! How requests are offered, from the flags.

use std::time::Duration;

use tare_plan::load_plan::{Arrivals, LoadModel, LoadStage};

use crate::args::ModelArgs;

pub fn load_model(model: &ModelArgs) -> LoadModel {
    if !model.user_stages.is_empty() {
        return LoadModel::ClosedStages { stages: model.user_stages.clone() };
    }
    if !is_open_loop(model) {
        return LoadModel::Closed;
    }
    let rate = model.rate.unwrap_or(0.0);
    let (per_s, stages) = match model.ramp {
        Some(over) => (0.0, vec![LoadStage { to: rate, over }]),
        None => (rate, model.stages.clone()),
    };
    let arrivals = if model.poisson { Arrivals::Poisson } else { Arrivals::Even };
    LoadModel::Open { per_s, stages, arrivals, tick: model.tick }
}

pub fn is_open_loop(model: &ModelArgs) -> bool {
    model.rate.is_some() || !model.stages.is_empty()
}

/// How long the stages of --stages or --user-stages last.
pub fn staged_time(model: &ModelArgs) -> Duration {
    model.stages.iter().chain(&model.user_stages).map(|stage| stage.over.0).sum()
}
