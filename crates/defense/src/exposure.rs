use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::{Kind, Scenario};

/// What the replayed traces of a corpus of pairs show the agent before it calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Exposure {
    /// Injection scenarios, unscored ones included.
    pub pairs: u64,
    /// Scorable ones in which an output that carries the injection is read before a call.
    pub exposed: u64,
    /// Injection scenarios whose user-task calls all equal their twin's in tool, destination and arguments.
    pub task_calls_identical_to_twin: u64,
    /// Distinct outputs that carry an injection and are read before a call.
    pub carrying_outputs_read: u64,
    /// Distinct outputs read before a call in benign scenarios.
    pub benign_outputs_read: u64,
}

/// Counts over those scenarios that `include` accepts; twins are looked up among all.
pub fn exposure(scenarios: &[Scenario], include: impl Fn(&Scenario) -> bool) -> Exposure {
    let by_id: HashMap<&str, &Scenario> = scenarios.iter().map(|s| (s.id.as_str(), s)).collect();
    let mut carrying: BTreeSet<&[u8; 32]> = BTreeSet::new();
    let mut benign: BTreeSet<&[u8; 32]> = BTreeSet::new();
    let mut e = Exposure::default();
    for s in scenarios.iter().filter(|s| include(s)) {
        // What the last call returns is read by no call.
        let read = s.steps.split_last().map_or(&[][..], |(_, before)| before).iter().filter_map(|x| x.output.as_ref());
        match s.kind {
            Kind::Benign => benign.extend(read.map(|o| o.text.sha256())),
            Kind::Injection => {
                e.pairs += 1;
                let found: Vec<_> = read.filter(|o| o.carries_injection).map(|o| o.text.sha256()).collect();
                e.exposed += u64::from(s.is_scorable() && !found.is_empty());
                carrying.extend(found);
                let twin = s.twin.as_deref().and_then(|id| by_id.get(id));
                let same = twin.is_some_and(|twin| {
                    let task = || s.steps.iter().filter(|x| !x.injected);
                    task().count() == twin.steps.len()
                        && task().zip(&twin.steps).all(|(a, b)| a.call.same_action(&b.call))
                });
                e.task_calls_identical_to_twin += u64::from(same);
            }
        }
    }
    e.carrying_outputs_read = carrying.len() as u64;
    e.benign_outputs_read = benign.len() as u64;
    e
}
