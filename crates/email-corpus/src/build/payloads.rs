use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Item, Profile, text};
use crate::import::{InboxPayload, Upstream, read_injecagent, read_llmail};
use crate::manifest::hex;
use crate::render::{Placement, Structure, defang, hidden_by, render, render_adaptive, render_handwritten, subject_of};
use crate::seeds::{Carrier, HandwrittenMessage, Seeds};
use crate::select::{Fingerprint, assigned_auth, draw, near_duplicates};
use crate::{
    Addresses, CorpusError, DetectorInput, Difficulty, EmailRecord, Label, Provenance, SenderAuth, ThreatType,
};

/// Payloads of each source in the recipe; their numbers in this order make the record ids.
const INJECAGENT: usize = 62;
const AGENTDOJO: usize = 180;
const LLMAIL: usize = 100;

/// The rotation of the assigned authentication.
const ROTATION: [SenderAuth; 3] = [SenderAuth::Verified, SenderAuth::Spoofed, SenderAuth::Unauthenticated];

/// A text to be rendered on every surface.
pub(super) struct Payload {
    id: String,
    /// Counted from 0 over the recipe; sets the rotation.
    index: usize,
    text: String,
    carrier: Carrier,
    /// Benign controls have none.
    threat: Option<Threat>,
    category: Option<String>,
    provenance: Provenance,
    metadata: BTreeMap<String, Value>,
}

struct Threat {
    scenario: String,
    technique: String,
    /// Indirect on every surface: the agent was sent to read the mail.
    indirect: bool,
}

fn number(index: usize) -> String {
    format!("pi_{:04}", index + 1)
}

fn provenance(source: &str, source_id: &str, payload: &str, scenario: Option<&str>) -> Provenance {
    let mut provenance = Provenance::new(source, true);
    provenance.source_id = Some(source_id.to_owned());
    provenance.base_payload_id = Some(payload.to_owned());
    provenance.base_scenario_id = scenario.map(str::to_owned);
    provenance
}

fn count(notes: &mut Vec<String>, what: &str, found: usize, wanted: usize) {
    if found != wanted {
        notes.push(format!("{what}: {found} of {wanted} payloads"));
    }
}

fn carrier_in_turn(seeds: &Seeds, n: usize) -> Result<Carrier, CorpusError> {
    seeds
        .carrier_in_turn(n)
        .cloned()
        .ok_or_else(|| CorpusError::Input { path: "seeds/carriers.toml".into(), message: "holds no carrier".into() })
}

pub(super) fn injecagent(
    upstream: &mut Upstream,
    seeds: &Seeds,
    notes: &mut Vec<String>,
) -> Result<Vec<Payload>, CorpusError> {
    let cases = read_injecagent(&upstream.file("injecagent-dh")?, &upstream.file("injecagent-ds")?)?;
    count(notes, "InjecAgent", cases.len().min(INJECAGENT), INJECAGENT);
    cases
        .into_iter()
        .take(INJECAGENT)
        .enumerate()
        .map(|(index, case)| {
            let id = number(index);
            Ok(Payload {
                provenance: provenance("injecagent", &case.id, &id, None),
                id,
                index,
                text: defang(&case.text),
                carrier: carrier_in_turn(seeds, index)?,
                threat: Some(Threat { scenario: case.scenario.into(), technique: "raw".into(), indirect: false }),
                category: None,
                metadata: BTreeMap::from([
                    ("attack_type".into(), text(case.attack_type)),
                    ("attacker_tools".into(), Value::Array(case.tools.into_iter().map(text).collect())),
                ]),
            })
        })
        .collect()
}

pub(super) fn agentdojo(inbox: Vec<InboxPayload>, notes: &mut Vec<String>) -> Vec<Payload> {
    count(notes, "AgentDojo", inbox.len().min(AGENTDOJO), AGENTDOJO);
    inbox
        .into_iter()
        .take(AGENTDOJO)
        .enumerate()
        .map(|(n, payload)| {
            let index = INJECAGENT + n;
            let id = number(index);
            let mut carrier = payload.carrier;
            for text in [&mut carrier.subject, &mut carrier.before, &mut carrier.after] {
                *text = defang(text);
            }
            Payload {
                provenance: provenance("agentdojo", &payload.id, &id, Some(&payload.scenario)),
                id,
                index,
                text: defang(&payload.text),
                carrier,
                threat: Some(Threat {
                    scenario: payload.injection_task,
                    technique: payload.formulation,
                    indirect: true,
                }),
                category: None,
                metadata: BTreeMap::new(),
            }
        })
        .collect()
}

pub(super) fn llmail(
    upstream: &mut Upstream,
    seeds: &Seeds,
    notes: &mut Vec<String>,
) -> Result<Vec<Payload>, CorpusError> {
    let input = if upstream.has("llmail-inject") { "llmail-inject" } else { "llmail-inject-derivative" };
    let all = read_llmail(&upstream.file(input)?)?;
    let prints: Vec<Fingerprint> = all.par_iter().map(|s| Fingerprint::new("", &s.text)).collect();
    let keys: Vec<[u8; 32]> = all.iter().map(|s| Sha256::digest(s.text.as_bytes()).into()).collect();
    let stands_for = near_duplicates(&prints, &keys);
    let (distinct, similar): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|n| stands_for[*n] == *n);
    let take = |from: &[usize], wanted: usize, stratum: &dyn Fn(usize) -> String| -> Vec<usize> {
        draw(from, wanted, |n| stratum(*n), |n| keys[*n]).into_iter().map(|n| from[n]).collect()
    };
    let mut chosen = take(&distinct, LLMAIL, &|n| all[n].stratum.clone());
    // Where too few are distinct, each cluster of near-duplicates gives one more in turn.
    let more = take(&similar, LLMAIL - chosen.len(), &|n| hex(&keys[stands_for[n]]));
    if all.iter().any(|s| s.derivative) {
        notes.push("LLMail-Inject: read from a derivative, not from the published submissions".into());
    }
    notes.push(format!(
        "LLMail-Inject: {} usable texts, {} after near-duplicates, {} of these taken and {} near-duplicates to make up the number",
        all.len(),
        distinct.len(),
        chosen.len(),
        more.len()
    ));
    chosen.extend(more);
    count(notes, "LLMail-Inject", chosen.len(), LLMAIL);
    chosen.sort_by_key(|n| keys[*n]);
    chosen
        .into_iter()
        .enumerate()
        .map(|(n, chosen)| {
            let submission = &all[chosen];
            let index = INJECAGENT + AGENTDOJO + n;
            let id = number(index);
            // Near-duplicates are told by a common scenario.
            let cluster = format!("llmail_{}", hex(&keys[stands_for[chosen]][..4]));
            let mut from = provenance("llmail-inject", &submission.id, &id, Some(&cluster));
            if submission.derivative {
                let note = "a CSV of subject and body derived from the published submissions";
                from.extra.insert("derivative".into(), text(note));
            }
            let prefix = if submission.derivative { "cluster_" } else { "" };
            Ok(Payload {
                provenance: from,
                id,
                index,
                text: defang(&submission.text),
                carrier: carrier_in_turn(seeds, index)?,
                threat: Some(Threat {
                    scenario: format!("{prefix}{}", submission.stratum),
                    technique: submission.technique.clone().unwrap_or_else(|| "submission".into()),
                    indirect: false,
                }),
                category: None,
                metadata: BTreeMap::from([("submitted_subject".into(), text(defang(&submission.subject)))]),
            })
        })
        .collect()
}

/// The five canonical phrasings, numbered in the recipe, and outside the full profile the further payloads under their own ids.
pub(super) fn own(seeds: &Seeds, profile: Profile) -> Result<Vec<Payload>, CorpusError> {
    let first = INJECAGENT + AGENTDOJO + LLMAIL;
    let further: &[_] = if profile == Profile::Full { &[] } else { &seeds.payloads };
    let canonical = seeds.canonical.iter().enumerate().map(|(n, seed)| (seed, number(first + n)));
    let further = further.iter().map(|seed| (seed, seed.id.clone()));
    canonical
        .chain(further)
        .enumerate()
        .map(|(n, (seed, id))| {
            let traits = seed.traits.iter().map(text).collect();
            Ok(Payload {
                provenance: provenance("handcrafted", &seed.id, &id, None),
                id,
                index: first + n,
                text: seed.text.clone(),
                carrier: seeds.carrier(&seed.carrier)?.clone(),
                threat: Some(Threat {
                    scenario: seed.goal.clone(),
                    technique: seed.technique.clone(),
                    indirect: false,
                }),
                category: None,
                metadata: BTreeMap::from([
                    ("language".into(), text(&seed.language)),
                    ("traits".into(), Value::Array(traits)),
                ]),
            })
        })
        .collect()
}

/// Controls on the surfaces of the payloads: the 25 of the recipe, and outside the full profile the hard ones.
pub(super) fn controls(seeds: &Seeds, profile: Profile, placements: &[Placement]) -> Result<Vec<Item>, CorpusError> {
    let hard: &[_] = if profile == Profile::Full { &[] } else { &seeds.controls_hard };
    let payloads = seeds
        .controls
        .iter()
        .chain(hard)
        .enumerate()
        .map(|(index, seed)| {
            let mut carrier = seeds.carrier(&seed.carrier)?.clone();
            carrier.subject.clone_from(&seed.subject);
            Ok(Payload {
                provenance: provenance("handcrafted", &seed.id, &seed.id, None),
                id: seed.id.clone(),
                index,
                text: seed.text.clone(),
                carrier,
                threat: None,
                category: Some(seed.category.clone()),
                metadata: BTreeMap::from([("language".into(), text(&seed.language))]),
            })
        })
        .collect::<Result<Vec<_>, CorpusError>>()?;
    render_payloads(&payloads, placements)
}

/// Every payload on every surface.
pub(super) fn render_payloads(payloads: &[Payload], placements: &[Placement]) -> Result<Vec<Item>, CorpusError> {
    let jobs: Vec<(&Payload, usize, Placement)> =
        payloads.iter().flat_map(|p| placements.iter().enumerate().map(move |(n, at)| (p, n, *at))).collect();
    jobs.par_iter().map(|(payload, n, placement)| payload.item(*n, *placement)).collect()
}

impl Payload {
    fn item(&self, surface: usize, placement: Placement) -> Result<Item, CorpusError> {
        let id = format!("{}_{}", self.id, placement.as_str());
        let eml = render(&id, &self.text, &self.carrier, placement)?;
        let mut label = Label::new(ThreatType::Benign);
        if let Some(threat) = &self.threat {
            let indirect = if threat.indirect { ThreatType::PromptInjectionIndirect } else { placement.threat() };
            label = Label::new(indirect);
            label.scenario = Some(threat.scenario.clone());
            label.injection_technique = Some(threat.technique.clone());
        }
        label.category.clone_from(&self.category);
        let mut metadata = self.metadata.clone();
        if placement == Placement::CssHidden {
            metadata.insert("hidden_by".into(), text(hidden_by(&id)));
        }
        let carrier = &self.carrier;
        let record = EmailRecord {
            eml_path: Some(path(if self.threat.is_some() { "prompt-injection" } else { "benign" }, &id)),
            id,
            label,
            surface: placement.surfaces().to_vec(),
            detector_input: fields(
                (&carrier.from_name, &carrier.from_address),
                (&carrier.to_name, &carrier.to_address),
                &subject_of(&self.text, carrier, placement),
            ),
            provenance: self.provenance.clone(),
            source_metadata: (!metadata.is_empty()).then_some(metadata),
            sender_auth_condition: ROTATION[(self.index + surface) % 3],
            split: Some("synthetic".into()),
            notes: None,
            eval_role: None,
            extra: BTreeMap::new(),
        };
        Ok(Item { record, eml: Some(eml) }.with_role())
    }
}

impl Item {
    pub(super) fn with_role(mut self) -> Self {
        self.record.eval_role = Some(self.record.role());
        self
    }
}

pub(super) fn path(folder: &str, id: &str) -> String {
    format!("eml/{folder}/{id}.eml")
}

fn fields(from: (&str, &str), to: (&str, &str), subject: &str) -> DetectorInput {
    let mailbox = |(name, address): (&str, &str)| {
        if name.is_empty() { address.to_owned() } else { format!("{name} <{address}>") }
    };
    DetectorInput {
        from: Some(mailbox(from)),
        to: Some(Addresses::Line(mailbox(to))),
        subject: Some(subject.to_owned()),
        ..DetectorInput::default()
    }
}

/// The adaptive scenarios in each combined structure.
pub(super) fn adaptive(seeds: &Seeds) -> Result<Vec<Item>, CorpusError> {
    let mut items = Vec::new();
    for (index, seed) in seeds.adaptive.iter().enumerate() {
        for (n, structure) in Structure::ALL.into_iter().enumerate() {
            let id = format!("{}_{}", seed.id, structure.as_str());
            let eml = render_adaptive(&id, seed, structure)?;
            let mut label = Label::new(structure.threat());
            label.scenario = Some(seed.goal.clone());
            label.injection_technique = Some("adaptive_split".into());
            let (from, to) = (&seed.participants[0], &seed.participants[1]);
            let record = EmailRecord {
                eml_path: Some(path("prompt-injection", &id)),
                id,
                label,
                surface: structure.surfaces(seed.fragments.len()),
                detector_input: fields((&from.name, &from.address), (&to.name, &to.address), &seed.subject),
                provenance: provenance("handcrafted", &seed.id, &seed.id, None),
                source_metadata: Some(BTreeMap::from([
                    ("fragments".into(), Value::from(seed.fragments.len())),
                    ("language".into(), text(&seed.language)),
                    ("name".into(), text(&seed.name)),
                ])),
                sender_auth_condition: ROTATION[(index + n) % 3],
                split: Some("synthetic".into()),
                notes: None,
                eval_role: None,
                extra: BTreeMap::new(),
            };
            items.push(Item { record, eml: Some(eml) }.with_role());
        }
    }
    Ok(items)
}

/// The hand-written lures and benign messages.
pub(super) fn handwritten(seeds: &Seeds) -> Result<Vec<Item>, CorpusError> {
    let lures = seeds.lures.iter().map(|m| (m, ThreatType::Phishing, "phishing"));
    let modern = seeds.modern.iter().map(|m| (m, ThreatType::Benign, "benign"));
    lures.chain(modern).map(|(message, threat, folder)| handwritten_item(message, threat, folder)).collect()
}

fn handwritten_item(message: &HandwrittenMessage, threat: ThreatType, folder: &str) -> Result<Item, CorpusError> {
    let id = message.id.clone();
    let eml = render_handwritten(&id, message)?;
    let mut label = Label::new(threat);
    label.category = Some(message.category.clone());
    label.malicious_urls = (!message.urls.is_empty()).then(|| message.urls.clone());
    label.difficulty = message.difficulty.clone().map(Difficulty::Word);
    let mut detector_input =
        fields((&message.from_name, &message.from_address), (&message.to_name, &message.to_address), &message.subject);
    detector_input.reply_to.clone_from(&message.reply_to);
    let mut from = Provenance::new("handcrafted", true);
    from.source_id = Some(id.clone());
    let digest = Sha256::digest(&eml).into();
    let record = EmailRecord {
        eml_path: Some(path(folder, &id)),
        id,
        label,
        surface: Vec::new(),
        detector_input,
        provenance: from,
        source_metadata: Some(BTreeMap::from([("language".into(), text(&message.language))])),
        sender_auth_condition: assigned_auth(&digest, threat),
        split: Some("synthetic".into()),
        notes: None,
        eval_role: None,
        extra: BTreeMap::new(),
    };
    Ok(Item { record, eml: Some(eml) }.with_role())
}
