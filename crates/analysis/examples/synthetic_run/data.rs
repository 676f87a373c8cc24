//! A run with the shape of the published mail benchmark and invented scores: 6,333 records, twelve detectors, three of them judges
//! whose scores are heavily tied.
//!
//! Only additions, products and quotients of doubles are used, so that every machine makes the same bytes.

use std::fmt::Write as _;

/// One file of the run folder.
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The canonical run (`run/…`, with the manifest) and the naive view (`naive/…`) of five detectors.
pub(crate) fn files(seed: u64) -> Vec<File> {
    let records = records();
    let mut files = vec![File { name: "run/manifest_used.jsonl".into(), text: manifest(&records) }];
    for detector in DETECTORS {
        for (folder, visible) in [("run", false), ("naive", true)] {
            if !visible || NAIVE.contains(&detector.name) {
                let text = predictions(&records, detector, seed, visible);
                files.push(File { name: format!("{folder}/{}.jsonl", detector.name.replace(':', "_")), text });
            }
        }
    }
    files
}

struct Record {
    id: String,
    threat: &'static str,
    role: Role,
    surfaces: &'static [&'static str],
    source: &'static str,
    group: Option<String>,
    scenario: Option<String>,
    auth: &'static str,
    split: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Injection,
    Phishing,
    Negative,
}

const SURFACES: [(&str, &[&str]); 8] = [
    ("plaintext", &["plaintext_body"]),
    ("html_visible", &["html_body"]),
    ("css_hidden", &["html_hidden_css"]),
    ("multipart_mismatch", &["multipart_mismatch", "html_body"]),
    ("subject_header", &["header", "subject"]),
    ("quoted_thread", &["quoted_thread"]),
    ("pdf_attachment", &["pdf_attachment"]),
    ("encoded_fragmented", &["encoded_obfuscated"]),
];

const COMBINED: [&[&str]; 3] = [
    &["html_hidden_css", "quoted_thread"],
    &["multipart_mismatch", "encoded_obfuscated"],
    &["pdf_attachment", "plaintext_body"],
];

const AUTH: [&str; 3] = ["verified", "spoofed", "unauthenticated"];

fn records() -> Vec<Record> {
    let mut all = Vec::new();
    let sources = [("injecagent", 62), ("agentdojo", 180), ("llmail-inject", 100), ("handcrafted", 5)];
    let mut payload = 0;
    for (source, count) in sources {
        for n in 0..count {
            for (s, (name, surfaces)) in SURFACES.iter().enumerate() {
                let indirect = source == "agentdojo" || s == 5 || s == 6;
                all.push(Record {
                    id: format!("pi_{:04}_{name}", payload + 1),
                    threat: if indirect { "prompt_injection_indirect" } else { "prompt_injection_direct" },
                    role: Role::Injection,
                    surfaces,
                    source,
                    group: Some(format!("pi_{:04}", payload + 1)),
                    scenario: (source == "agentdojo").then(|| format!("inbox_{:02}", n % 30)),
                    auth: AUTH[(payload + s) % 3],
                    split: "synthetic",
                });
            }
            payload += 1;
        }
    }
    for scenario in 0..6 {
        for (s, surfaces) in COMBINED.iter().enumerate() {
            all.push(Record {
                id: format!("pi_adaptive_{:02}_{s}", scenario + 1),
                threat: "prompt_injection_indirect",
                role: Role::Injection,
                surfaces,
                source: "handcrafted",
                group: Some(format!("pi_adaptive_{:02}", scenario + 1)),
                scenario: None,
                auth: AUTH[(scenario + s) % 3],
                split: "synthetic",
            });
        }
    }
    let found = |id: String, threat, role, source, auth| Record {
        id,
        threat,
        role,
        surfaces: &[],
        source,
        group: None,
        scenario: None,
        auth,
        split: "found",
    };
    for n in 1..=1000 {
        all.push(found(format!("ham_easy_{n:04}"), "benign", Role::Negative, "ham_corpus", "verified"));
    }
    for n in 1..=500 {
        all.push(found(format!("ham_hard_{n:04}"), "benign", Role::Negative, "ham_corpus", "verified"));
    }
    for n in 0..339_usize {
        let auth = if n % 7 < 4 { "verified" } else { "unauthenticated" };
        all.push(found(
            format!("notinject_{n:04}_{:08x}", n * 2_654_435 + 17),
            "benign",
            Role::Negative,
            "notinject",
            auth,
        ));
    }
    for seed in 0..25 {
        for (s, (name, surfaces)) in SURFACES.iter().enumerate() {
            all.push(Record {
                id: format!("control_{:04}_{name}", seed + 1),
                threat: "benign",
                role: Role::Negative,
                surfaces,
                source: "synthetic",
                group: Some(format!("control_{:04}", seed + 1)),
                scenario: None,
                auth: AUTH[(seed + s) % 3],
                split: "synthetic",
            });
        }
    }
    for n in 1..=1000 {
        all.push(found(format!("nazario_{n:04}"), "phishing", Role::Phishing, "phishing_corpus", "unauthenticated"));
    }
    for n in 1..=500 {
        all.push(found(format!("sa_spam_{n:04}"), "spam", Role::Phishing, "phishing_corpus", "unauthenticated"));
    }
    all
}

fn manifest(records: &[Record]) -> String {
    let mut text = String::new();
    for r in records {
        let surfaces: Vec<String> = r.surfaces.iter().map(|s| format!("{s:?}")).collect();
        let group = r.group.as_ref().map_or(String::new(), |g| format!(r#","base_payload_id":"{g}""#));
        let scenario = r.scenario.as_ref().map_or(String::new(), |s| format!(r#","base_scenario_id":"{s}""#));
        let _ = writeln!(
            text,
            r#"{{"id":"{id}","eml_path":"eml/{id}.eml","label":{{"is_malicious":{bad},"threat_type":"{threat}"}},"surface":[{surfaces}],"detector_input":{{}},"provenance":{{"source":"{source}","synthetic":{synthetic}{group}{scenario}}},"sender_auth_condition":"{auth}","split":"{split}"}}"#,
            id = r.id,
            bad = r.role != Role::Negative,
            threat = r.threat,
            surfaces = surfaces.join(","),
            source = r.source,
            synthetic = r.split == "synthetic",
            auth = r.auth,
            split = r.split,
        );
    }
    text
}

/// How a detector's inner opinion in 0..1 becomes a score.
#[derive(Clone, Copy)]
enum Scale {
    /// Multiples of .05, as a judge says them, with .98 at the top.
    Judge,
    /// A classifier that is sure of itself: six decimals, squeezed to the ends.
    Classifier,
    /// Says yes to nearly everything.
    Yes,
    /// Steps of a service.
    Levels(&'static [f64]),
    /// Two decimals, and 1 above .9.
    Rules,
    /// The mean of `DETECTORS[3..6]`, written by its own file.
    Mean,
}

struct Detector {
    name: &'static str,
    scale: Scale,
    /// How far apart positives and negatives are, for injections and for phishing.
    skill: [f64; 2],
    /// Every how many-th record has an error in place of a score; 0: none.
    error_every: usize,
}

const DETECTORS: &[Detector] = &[
    Detector { name: "judge:small", scale: Scale::Judge, skill: [0.42, 0.50], error_every: 0 },
    Detector { name: "judge:middle", scale: Scale::Judge, skill: [0.36, 0.38], error_every: 0 },
    Detector { name: "judge:large", scale: Scale::Judge, skill: [0.40, 0.46], error_every: 0 },
    Detector { name: "classifier-a", scale: Scale::Classifier, skill: [0.25, 0.22], error_every: 0 },
    Detector { name: "classifier-b", scale: Scale::Classifier, skill: [0.22, 0.08], error_every: 0 },
    Detector { name: "classifier-c", scale: Scale::Classifier, skill: [0.14, 0.12], error_every: 0 },
    Detector { name: "always-yes", scale: Scale::Yes, skill: [0.01, 0.0], error_every: 0 },
    Detector { name: "classifier-d", scale: Scale::Classifier, skill: [0.10, 0.05], error_every: 0 },
    Detector { name: "mean-abc", scale: Scale::Mean, skill: [0.0, 0.0], error_every: 0 },
    Detector {
        name: "service-levels",
        scale: Scale::Levels(&[0.0, 0.5, 0.6, 0.75, 1.0]),
        skill: [0.12, 0.04],
        error_every: 0,
    },
    Detector {
        name: "service-quarters",
        scale: Scale::Levels(&[0.0, 0.25, 0.5, 0.75, 1.0]),
        skill: [0.30, 0.05],
        error_every: 83,
    },
    Detector { name: "rules", scale: Scale::Rules, skill: [0.30, 0.20], error_every: 0 },
];

/// Detectors that also ran on the naive view.
const NAIVE: [&str; 5] = ["classifier-a", "classifier-b", "classifier-c", "always-yes", "judge:small"];

fn predictions(records: &[Record], detector: &Detector, seed: u64, naive: bool) -> String {
    let mut text = String::new();
    // Not the manifest's order: a reader has to join by id.
    for (n, r) in records.iter().enumerate().rev() {
        let failed = detector.error_every > 0 && n % detector.error_every == 7;
        let hidden = naive && r.surfaces.first().is_some_and(|s| *s != "plaintext_body" && *s != "header");
        match detector.scale {
            Scale::Judge => {
                let pi = score(detector, r, seed, 0, hidden);
                let phi = score(detector, r, seed, 1, hidden);
                let group = r.group.as_deref().unwrap_or(&r.id);
                let _ = writeln!(
                    text,
                    r#"{{"id": "{}", "model": "{}", "N": 1, "surface": "{}", "base_payload_id": "{group}", "is_pi": {}, "is_phish": {}, "is_benign": {}, "pi_score": {pi:?}, "phi_score": {phi:?}}}"#,
                    r.id,
                    detector.name,
                    r.surfaces.first().unwrap_or(&""),
                    r.role == Role::Injection,
                    r.role == Role::Phishing,
                    r.role == Role::Negative,
                );
            }
            _ if failed => {
                let _ = writeln!(
                    text,
                    r#"{{"id":"{}","detector":"{}","flagged":null,"score":null,"action":null,"categories":[],"latency_ms":0.0,"error":"503 from the service","error_class":"server"}}"#,
                    r.id, detector.name
                );
            }
            _ => {
                let score = match detector.scale {
                    Scale::Mean => DETECTORS[3..6].iter().map(|d| score(d, r, seed, 0, hidden)).sum::<f64>() / 3.0,
                    _ => score(detector, r, seed, 0, hidden),
                };
                let action = if score >= 0.75 {
                    "block"
                } else if score >= 0.35 {
                    "review"
                } else {
                    "allow"
                };
                let _ = writeln!(
                    text,
                    r#"{{"id":"{}","detector":"{}","flagged":{},"score":{score:?},"action":"{action}","categories":[],"latency_ms":{:?}}}"#,
                    r.id,
                    detector.name,
                    score >= 0.35,
                    20.0 + (n % 97) as f64
                );
            }
        }
    }
    text
}

/// The score of a record: skill where it is a positive, the payload's own difficulty, and noise.
fn score(detector: &Detector, r: &Record, seed: u64, task: usize, hidden: bool) -> f64 {
    let group = r.group.as_deref().unwrap_or(&r.id);
    let uniform = |what: &str, name: &str| {
        let mut state = seed ^ (task as u64) << 32;
        for byte in detector.name.bytes().chain(what.bytes()).chain(name.bytes()) {
            state = mix(state ^ u64::from(byte));
        }
        (mix(state) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let wanted = if task == 0 { Role::Injection } else { Role::Phishing };
    let single = !matches!(detector.scale, Scale::Judge);
    let skill = match r.role {
        Role::Negative => 0.0,
        role if role == wanted => detector.skill[task],
        Role::Phishing if single => detector.skill[1],
        _ => 0.02,
    };
    let skill = if hidden && r.role != Role::Phishing { skill * 0.2 } else { skill };
    let noise = (uniform("record", &r.id) + uniform("again", &r.id) + uniform("group", group)) / 3.0;
    let odd = uniform("odd", &r.id) < 0.03;
    let opinion = if odd { uniform("whim", &r.id) } else { (0.1 + 0.5 * noise + skill).clamp(0.0, 1.0) };
    let rounded = |x: f64, unit: f64| (x * unit + 0.5).floor() / unit;
    match detector.scale {
        Scale::Judge => {
            let step = rounded(squeeze(squeeze(opinion)), 20.0);
            if step >= 0.97 { 0.98 } else { step }
        }
        Scale::Classifier => rounded(squeeze(squeeze(opinion)), 1e6),
        Scale::Yes => {
            if noise < 0.2 {
                0.02
            } else {
                rounded(1.0 - 0.004 * noise, 1e4)
            }
        }
        Scale::Levels(levels) => levels[((squeeze(opinion) * levels.len() as f64) as usize).min(levels.len() - 1)],
        Scale::Rules => {
            if opinion > 0.75 {
                1.0
            } else {
                rounded(opinion, 100.0)
            }
        }
        Scale::Mean => 0.0,
    }
}

/// Moves a number in 0..1 away from the middle.
fn squeeze(x: f64) -> f64 {
    x * x * (3.0 - 2.0 * x)
}

/// The finaliser of SplitMix64.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
