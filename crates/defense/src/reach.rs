use serde::Serialize;

use crate::{Kind, Scenario};

/// How much of the injection tasks an egress defense can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EgressReach {
    /// Scenarios whose injected calls are all of egress tools.
    pub only_egress: Vec<String>,
    /// Scenarios with injected calls of both kinds.
    pub mixed: Vec<String>,
    /// Scenarios without an injected egress call: a flow-and-destination defense never mediates these.
    pub no_egress: Vec<String>,
}

/// Sorts the scorable injection scenarios by the tools of their injected calls; ids are in corpus order.
pub fn egress_reach(scenarios: &[Scenario]) -> EgressReach {
    let mut reach = EgressReach::default();
    for s in scenarios.iter().filter(|s| s.kind == Kind::Injection && s.is_scorable()) {
        let injected = || s.steps.iter().filter(|x| x.injected);
        let list = match (injected().any(|x| x.call.is_egress()), injected().all(|x| x.call.is_egress())) {
            (_, true) => &mut reach.only_egress,
            (true, false) => &mut reach.mixed,
            (false, false) => &mut reach.no_egress,
        };
        list.push(s.id.clone());
    }
    reach
}
