//! What agents cannot do.

use tare_plan::plan::{Program, Protocol};

use super::*;
use crate::tests::plan;

#[test]
fn what_agents_cannot_do_is_refused_with_what_to_do() {
    let planned = |places: &[&str], users: u32| {
        let mut plan = plan(&["a", "b"], &["Get"]);
        plan.machine.agents = places.iter().map(|place| (*place).to_owned()).collect();
        plan.load.users = users;
        plan
    };
    let why = |plan: &Plan| check_possible(plan).unwrap_err().to_string();
    assert!(why(&planned(&["bench1"], 16)).contains("write local:4, ssh://user@host:22 or k8s:8"));
    assert!(why(&planned(&["local:17"], 16)).contains("16 users are too few for 17 agents"));
    let searched = tare_plan::slo::Slo { by: tare_plan::slo::LoadBy::Users, most_users: 3, ..Default::default() };
    let search = Plan { slo: Some(searched), ..planned(&["local:4"], 16) };
    assert!(why(&search).contains("3 users are too few for 4 agents; give each at least one (--slo-most 4)"));
    let mut deep = planned(&["local:3"], 16);
    let transport = Transport { protocol: Protocol::Http2 { streams: 8 }, ..Transport::default() };
    deep.groups[0].variants[1].program = Program::External { url: "http://10.0.0.7:80".to_owned(), transport };
    assert!(why(&deep).contains("16 users are too few for 3 agents; give each at least 8, as many as a connection"));
    deep.load.users = 17;
    assert!(check_possible(&deep).is_ok(), "two full connections and a part of a third");
    assert!(why(&planned(&["ssh://a"], 16)).contains("add --server-host ssh://HOST, or --server-host local:"));
    let tools = Plan { engines: vec![tare_plan::Engine::Wrk], ..planned(&["local:2"], 16) };
    assert!(why(&tools).contains("leave out --engine"));
    let mut external = planned(&["ssh://a", "k8s:4"], 16);
    let run_elsewhere = Program::External { url: "http://10.0.0.7:80".to_owned(), transport: Default::default() };
    external.groups[0].variants.iter_mut().for_each(|variant| variant.program = run_elsewhere.clone());
    assert!(check_possible(&external).is_ok() && check_possible(&planned(&["local:2"], 16)).is_ok());
    assert!(check_possible(&planned(&[], 16)).is_ok());
}
