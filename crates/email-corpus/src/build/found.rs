use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::payloads::path;
use super::{Item, text};
use crate::import::{Probe, Upstream, read_notinject};
use crate::manifest::hex;
use crate::render::defang;
use crate::select::{Fingerprint, FoundMail, assigned_auth, draw, near_duplicates};
use crate::{Addresses, Body, CorpusError, DetectorInput, EmailRecord, Label, Provenance, SenderAuth, ThreatType};

const HAM: usize = 1500;
const NAZARIO: usize = 1000;
const SPAM: usize = 500;

/// Where found mail goes in the recipe.
struct Part {
    name: &'static str,
    wanted: usize,
    source: &'static str,
    threat: ThreatType,
    folder: &'static str,
}

pub(super) fn ham(upstream: &mut Upstream, notes: &mut Vec<String>) -> Result<Vec<Item>, CorpusError> {
    let mail = collect(upstream, &["easy_ham", "easy_ham_2", "hard_ham"])?;
    let part = Part {
        name: "SpamAssassin ham",
        wanted: HAM,
        source: "ham_corpus",
        threat: ThreatType::Benign,
        folder: "benign",
    };
    let id = |mail: &FoundMail| if mail.collection == "hard_ham" { "ham_hard" } else { "ham_easy" };
    Ok(choose(mail, &part, |m| m.ham_category, id, notes))
}

pub(super) fn nazario(upstream: &mut Upstream, notes: &mut Vec<String>) -> Result<Vec<Item>, CorpusError> {
    let mut mail = collect(upstream, &["nazario-phishing0", "nazario-phishing1", "nazario-20051114"])?;
    let before = mail.len();
    // A mailbox that an IMAP server kept begins with a message of the server's own.
    mail.retain(|m| !m.bytes.windows(8).take(4096).any(|w| w == b"\nX-IMAP:"));
    if mail.len() < before {
        notes.push(format!("Nazario: {} messages of an IMAP server's own left out", before - mail.len()));
    }
    let part = Part {
        name: "Nazario phishing",
        wanted: NAZARIO,
        source: "phishing_corpus",
        threat: ThreatType::Phishing,
        folder: "phishing",
    };
    Ok(choose(mail, &part, |m| m.threat_category, |_| "nazario", notes))
}

pub(super) fn spam(upstream: &mut Upstream, notes: &mut Vec<String>) -> Result<Vec<Item>, CorpusError> {
    let mail = collect(upstream, &["spam", "spam_2"])?;
    let part = Part {
        name: "SpamAssassin spam",
        wanted: SPAM,
        source: "phishing_corpus",
        threat: ThreatType::Spam,
        folder: "phishing",
    };
    Ok(choose(mail, &part, |m| m.threat_category, |_| "sa_spam", notes))
}

fn collect(upstream: &mut Upstream, names: &[&str]) -> Result<Vec<FoundMail>, CorpusError> {
    let mut all = Vec::new();
    for name in names {
        let files = upstream.mail(name)?;
        let collection = name.strip_prefix("nazario-").unwrap_or(name);
        all.par_extend(files.into_par_iter().map(|file| FoundMail::new(collection, file)));
    }
    Ok(all)
}

/// Near-duplicates away, then the draw; records in the order of the draw's strata names and digests, numbered by id prefix.
fn choose(
    mail: Vec<FoundMail>,
    part: &Part,
    category: impl Fn(&FoundMail) -> &'static str,
    id: impl Fn(&FoundMail) -> &'static str,
    notes: &mut Vec<String>,
) -> Vec<Item> {
    let prints: Vec<Fingerprint> = mail.par_iter().map(|m| Fingerprint::new(&m.subject, &m.body)).collect();
    let keys: Vec<[u8; 32]> = mail.iter().map(|m| m.digest).collect();
    let stands_for = near_duplicates(&prints, &keys);
    let total = mail.len();
    let distinct: Vec<FoundMail> =
        mail.into_iter().zip(stands_for).enumerate().filter(|(n, (_, k))| n == k).map(|(_, (m, _))| m).collect();
    let mut drawn = draw(&distinct, part.wanted, |m| m.stratum(category(m)), |m| m.digest);
    drawn.sort_by_key(|n| (id(&distinct[*n]), distinct[*n].digest));
    let mut note =
        format!("{}: {} found, {} after near-duplicates, {} taken", part.name, total, distinct.len(), drawn.len());
    if drawn.len() < part.wanted {
        note.push_str(&format!(" where the recipe has {}: {} missing", part.wanted, part.wanted - drawn.len()));
    }
    notes.push(note);
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    drawn
        .into_iter()
        .map(|n| {
            let mail = &distinct[n];
            let prefix = id(mail);
            let number = numbers.entry(prefix).or_default();
            *number += 1;
            item(mail, part, category(mail), &format!("{prefix}_{number:04}"))
        })
        .collect()
}

fn item(mail: &FoundMail, part: &Part, category: &str, id: &str) -> Item {
    let mut label = Label::new(part.threat);
    label.category = Some(category.to_owned());
    let mut provenance = Provenance::new(part.source, false);
    provenance.source_id = Some(format!("{}/{}", mail.collection, mail.name));
    let record = EmailRecord {
        id: id.to_owned(),
        eml_path: Some(path(part.folder, id)),
        label,
        surface: Vec::new(),
        detector_input: DetectorInput {
            from: mail.from.clone(),
            to: mail.to.clone().map(Addresses::Line),
            subject: Some(mail.subject.clone()),
            ..DetectorInput::default()
        },
        provenance,
        source_metadata: Some(BTreeMap::from([
            ("collection".into(), text(&mail.collection)),
            ("has_html".into(), Value::Bool(mail.has_html)),
        ])),
        sender_auth_condition: assigned_auth(&mail.digest, part.threat),
        split: Some("found".into()),
        notes: None,
        eval_role: None,
        extra: BTreeMap::new(),
    };
    Item { record, eml: Some(mail.bytes.clone()) }.with_role()
}

/// Benign probes: records without a raw message.
pub(super) fn notinject(upstream: &mut Upstream) -> Result<Vec<Item>, CorpusError> {
    let files = ["one", "two", "three"]
        .iter()
        .map(|part| upstream.file(&format!("notinject-{part}")))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(read_notinject(&files)?.iter().enumerate().map(|(n, probe)| probe_item(n, probe)).collect())
}

fn probe_item(n: usize, probe: &Probe) -> Item {
    let digest: [u8; 32] = Sha256::digest(probe.text.as_bytes()).into();
    let mut label = Label::new(ThreatType::Benign);
    label.category = Some(probe.category.to_lowercase().replace(' ', "_"));
    let mut provenance = Provenance::new("notinject", true);
    provenance.source_id = Some(probe.id.clone());
    let words = probe.trigger_words.iter().map(text).collect();
    let record = EmailRecord {
        id: format!("notinject_{:04}_{}", n + 1, hex(&digest[..4])),
        eml_path: None,
        label,
        surface: Vec::new(),
        detector_input: DetectorInput {
            body: Some(Body { text: Some(defang(&probe.text)), ..Body::default() }),
            ..DetectorInput::default()
        },
        provenance,
        source_metadata: Some(BTreeMap::from([("trigger_words".into(), Value::Array(words))])),
        sender_auth_condition: SenderAuth::Verified,
        split: Some("synthetic".into()),
        notes: None,
        eval_role: None,
        extra: BTreeMap::new(),
    };
    Item { record, eml: None }.with_role()
}
