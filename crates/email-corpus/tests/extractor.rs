//! The canonical extractor finds the whole text again, on every surface, in the segment where it should stand.
#![cfg(feature = "build")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use wardline_email_corpus::{BuildInputs, Item, Placement, Profile, Seeds, assemble, render};
use wardline_segments::{Limits, SegmentKind, extract};

fn squeeze(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn expected(placement: Placement) -> SegmentKind {
    match placement {
        Placement::Plaintext | Placement::QuotedThread => SegmentKind::TextPlain,
        Placement::CssHidden => SegmentKind::HtmlHidden,
        Placement::SubjectHeader => SegmentKind::Subject,
        Placement::HtmlVisible | Placement::MultipartMismatch | Placement::EncodedFragmented => {
            SegmentKind::HtmlVisible
        }
        Placement::PdfAttachment | Placement::CalendarInvitation | Placement::DocxAttachment => {
            SegmentKind::AttachmentText
        }
        other => panic!("{other:?} is not known to this test"),
    }
}

#[test]
fn the_whole_payload_is_found_on_every_surface() {
    let seeds = Seeds::embedded().expect("seeds");
    let payloads = seeds.canonical.iter().chain(&seeds.payloads).map(|p| (&p.id, &p.carrier, &p.text));
    let controls = seeds.controls.iter().chain(&seeds.controls_hard).map(|c| (&c.id, &c.carrier, &c.text));
    let mut missed = Vec::new();
    let mut looked_at = 0;
    for (id, carrier, text) in payloads.chain(controls) {
        for placement in Placement::EXTENDED {
            let id = format!("{id}_{}", placement.as_str());
            let eml = render(&id, text, seeds.carrier(carrier).expect("a carrier"), placement).expect("rendered");
            let extraction = extract(&eml, &Limits::default());
            looked_at += 1;
            if !extraction.contents(expected(placement)).any(|segment| squeeze(segment).contains(&squeeze(text))) {
                missed.push(id);
            }
        }
    }
    assert!(missed.is_empty(), "{} of {looked_at} missed: {missed:?}", missed.len());
    assert_eq!(looked_at, 130 * 10);
}

/// The upstream payloads too, where the machine has them. A payload is known from the subject of its record on the subject surface,
/// where white space alone differs.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test runner names the folders of test data in the environment")]
fn the_whole_payload_is_found_in_every_message_of_the_full_profile() {
    let upstream = std::env::var_os("WARDLINE_UPSTREAM").map(PathBuf::from);
    let inbox = std::env::var_os("WARDLINE_DATA_TEST").map(|data| PathBuf::from(data).join("agentdojo/inbox.jsonl"));
    let (Some(upstream), Some(inbox)) = (upstream, inbox.filter(|path| path.is_file())) else {
        println!(
            "skipped: WARDLINE_UPSTREAM is not set, or WARDLINE_DATA_TEST names no folder with agentdojo/inbox.jsonl"
        );
        return;
    };
    let inputs = BuildInputs { agentdojo_inbox: Some(inbox), upstream: Some(upstream), ..BuildInputs::default() };
    let corpus = assemble(Profile::Full, &inputs).expect("built");
    let mail: BTreeMap<&str, &Item> = corpus.items.iter().map(|item| (item.record.id.as_str(), item)).collect();
    let mut missed = Vec::new();
    let mut payloads = 0;
    for (id, item) in mail.iter().filter(|(id, _)| id.starts_with("pi_") && id.ends_with("_subject_header")) {
        let payload = squeeze(item.record.detector_input.subject.as_deref().expect("a subject"));
        let base = id.trim_end_matches("_subject_header");
        payloads += 1;
        for placement in Placement::PUBLISHED {
            let id = format!("{base}_{}", placement.as_str());
            let extraction = extract(mail[id.as_str()].eml.as_ref().expect("a message"), &Limits::default());
            if !extraction.contents(expected(placement)).any(|segment| squeeze(segment).contains(&payload)) {
                missed.push(id);
            }
        }
    }
    assert!(missed.is_empty(), "{} missed: {missed:?}", missed.len());
    assert_eq!(payloads, 347);
}
