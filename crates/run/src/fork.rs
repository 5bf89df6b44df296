//! One fork of one group: start all servers, verify, warm up and measure each scenario, stop all.

use tare_plan::contract::Push;
use tare_plan::plan::{Group, Mode, NamedScenario, Role, Variant, Warmup};
use tare_record::RunRecord;
use tare_record::checkpoint::SharedLoad;

use crate::context::{FixedLoad, RunContext};
use crate::error::RunError;
use crate::progress::RunPosition;
use crate::scenario::ScenarioRun;
use crate::scenario::capacity::search_capacity;
use crate::scenario::latency::measure_latency;
use crate::scenario::profiled::profile_servers;
use crate::scenario::push::{measure_pushes, warm_up_listeners};
use crate::scenario::rounds::{measure_cell, measure_rounds, settle};
use crate::scenario::warmup::WarmUp;
use crate::servers::ForkServers;

/// Longest body in bytes of a request that counts as short.
const LONGEST_SHORT_BODY: usize = 64 * 1024;

/// Runs one fork. Servers that fail are events; the others go on.
pub(crate) fn run_fork<'a>(
    context: &mut RunContext<'a>,
    group: &'a Group,
    place: RunPosition<'a>,
) -> Result<(), RunError> {
    let record = context.journal.record();
    // What is void in every scenario, such as a server that answers otherwise than its baseline, stays so.
    let is_void =
        |variant: &Variant| group.scenarios.iter().all(|named| record.is_void(&group.id, &named.name, &variant.name));
    let variants: Vec<&Variant> = group.variants_of_fork(place.fork).iter().filter(|one| !is_void(one)).collect();
    let mut servers = ForkServers::start(context, variants, place)?;
    let names: Vec<&str> = group.scenarios.iter().map(|named| named.name.as_str()).collect();
    servers.verify(context, &names)?;
    servers.observe_rest(context);
    let mut orders = context.random_orders(&["scenarios", &group.id, &place.fork.to_string()]);
    for named in short_request_first(orders.shuffled(&group.scenarios)) {
        if !context.bed.is_interrupted() {
            servers.restart_failed(context, &names, &named.name)?;
        }
        let is_over = servers.healthy() == 0 || is_hopeless(group, context.journal.record());
        if is_over || context.bed.is_interrupted() {
            break;
        }
        let mut scenario = ScenarioRun::open(context, &mut servers, named)?;
        let at_rate = measure_scenario(&mut scenario)?;
        // Latency takes as long again, and a verdict of the rounds does not wait for it.
        if scenario.plan().stop.forks.may_decide(place.fork) {
            scenario.show_standings();
        }
        at_rate.map_or(Ok(()), |fixed| measure_latency(&mut scenario, fixed))?;
        scenario.close();
    }
    servers.stop(context)
}

/// Whether further load cannot show anything: in every scenario the baseline is void, or all that is compared with it. A
/// control goes on for its own sake only where it alone was asked for.
pub(crate) fn is_hopeless(group: &Group, record: &RunRecord) -> bool {
    let of_role = |role: Role| group.variants.iter().filter(move |variant| variant.role == role);
    let asked = if of_role(Role::Compared).next().is_some() { Role::Compared } else { Role::Control };
    group.scenarios.iter().all(|named| {
        let is_void = |variant: &Variant| record.is_void(&group.id, &named.name, &variant.name);
        of_role(Role::Baseline).any(is_void) || of_role(asked).next().is_some() && of_role(asked).all(is_void)
    })
}

/// Moves a scenario with a short request to the front: of these, a server answers hundreds of times as many, so that
/// the code that all scenarios share is compiled sooner.
fn short_request_first(mut scenarios: Vec<&NamedScenario>) -> Vec<&NamedScenario> {
    let is_short = |named: &&NamedScenario| {
        named.scenario.request.body.as_ref().is_none_or(|body| body.length() <= LONGEST_SHORT_BODY)
    };
    if let Some(at) = scenarios.iter().position(is_short) {
        scenarios[..=at].rotate_right(1);
    }
    scenarios
}

/// Measures one scenario as the plan's mode asks, except its latency. Returns the load of that where it is still to be measured.
pub(crate) fn measure_scenario(scenario: &mut ScenarioRun<'_, '_>) -> Result<Option<FixedLoad>, RunError> {
    let (plan, named) = (scenario.plan(), scenario.named);
    if let Some(push) = &named.scenario.push {
        return measure_push_scenario(scenario, push).map(|()| None);
    }
    WarmUp::run(scenario)?;
    if plan.mode == Mode::Sequential {
        return measure_cell(scenario).map(|()| None);
    }
    if let Some(slo) = &plan.slo {
        return search_capacity(scenario, slo).map(|()| None);
    }
    let fixed = fixed_load(scenario)?;
    match (plan.mode, fixed) {
        (Mode::Profiled, Some(fixed)) => profile_servers(scenario, fixed.rate_per_s).map(|()| None),
        // The rate is a share of a capacity that no server has shown.
        (Mode::Profiled, None) => Ok(None),
        _ => measure_rounds(scenario, fixed).map(|()| fixed),
    }
}

fn measure_push_scenario(scenario: &mut ScenarioRun<'_, '_>, push: &Push) -> Result<(), RunError> {
    let plan = scenario.plan();
    warm_up_listeners(scenario)?;
    if plan.mode == Mode::Profiled {
        return profile_servers(scenario, f64::from(plan.load.users) / push.period.0.as_secs_f64());
    }
    match &plan.slo {
        Some(slo) => search_capacity(scenario, slo),
        None => measure_pushes(scenario, push),
    }
}

/// The load that all forks of this scenario share. The first fork that can tell it fixes it.
fn fixed_load(scenario: &mut ScenarioRun<'_, '_>) -> Result<Option<FixedLoad>, RunError> {
    let plan = scenario.plan();
    let known = scenario.shared_load().and_then(|load| FixedLoad::of(plan, load.slowest_per_s));
    // A warm-up that ends when servers are steady has already shown them on the cores where they are measured.
    if known.is_some() && matches!(plan.warmup, Warmup::UntilSteady { .. }) {
        return Ok(known);
    }
    let measured = settle(scenario)?;
    // A rate that is stated is known without an answer; turns and rounds are not.
    let told = measured.filter(|_| known.is_none()).and_then(|fixed| fixed.slowest_per_s);
    if told.is_some() {
        let (group, named) = (scenario.place.group.to_owned(), scenario.named.name.clone());
        let load = SharedLoad { group, scenario: named, slowest_per_s: told, windows: None };
        scenario.context.checkpoint.loads.push(load);
    }
    Ok(known.or(measured))
}

#[cfg(test)]
mod tests {
    use tare_plan::contract::BodySpec;

    use super::*;
    use crate::tests::scenario;

    fn order(bodies: &[usize]) -> Vec<usize> {
        let scenarios: Vec<NamedScenario> = bodies
            .iter()
            .map(|bytes| {
                let mut named = scenario("any", None);
                named.scenario.request.body = Some(BodySpec::Text("a".repeat(*bytes)));
                named
            })
            .collect();
        let length = |named: &NamedScenario| named.scenario.request.body.as_ref().map_or(0, BodySpec::length);
        short_request_first(scenarios.iter().collect()).into_iter().map(length).collect()
    }

    #[test]
    fn a_start_begins_with_a_short_request_and_keeps_the_order_of_the_others() {
        let long = LONGEST_SHORT_BODY + 1;
        assert_eq!(order(&[long, long + 1, 7, 5]), [7, long, long + 1, 5]);
        assert_eq!(order(&[7, long, 5]), [7, long, 5]);
        assert_eq!(order(&[long + 1, long]), [long + 1, long], "there are only long ones");
        assert_eq!(order(&[long, LONGEST_SHORT_BODY]), [LONGEST_SHORT_BODY, long]);
        assert!(order(&[]).is_empty());
    }
}
