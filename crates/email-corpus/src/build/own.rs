use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{Corpus, Item, text};
use crate::import::MailFile;
use crate::select::{FoundMail, assigned_auth};
use crate::{Addresses, CorpusError, DetectorInput, EmailRecord, Label, Provenance, SenderAuth, ThreatType};

/// How a user's own mail is labelled.
#[derive(Debug, Clone)]
pub struct OwnMail {
    /// Begins every id and names the folder: letters, digits, `-` and `_`.
    pub name: String,
    /// What all of the mail is.
    pub threat: ThreatType,
    /// Finer kind, if any.
    pub category: Option<String>,
    /// The sender's authentication; assigned by content digest with the published shares when absent.
    pub auth: Option<SenderAuth>,
}

/// Makes a corpus of a user's own mail, in the order given, message by message as it is; identical messages are taken once.
///
/// # Errors
/// A name that cannot stand in an id or a path, no mail at all, or an empty message (named).
pub fn own_mail(files: Vec<MailFile>, options: &OwnMail) -> Result<Corpus, CorpusError> {
    let wrong = |message: String| CorpusError::Input { path: options.name.clone().into(), message };
    let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if options.name.is_empty() || !options.name.chars().all(named) {
        return Err(wrong("is no name: letters, digits, - and _ are allowed".into()));
    }
    if files.is_empty() {
        return Err(wrong("no mail was found".into()));
    }
    if let Some(empty) = files.iter().find(|file| file.bytes.is_empty()) {
        return Err(wrong(format!("{} is empty", empty.name)));
    }
    let found = files.len();
    let mail: Vec<FoundMail> = files.into_par_iter().map(|file| FoundMail::new(&options.name, file)).collect();
    let mut first = BTreeMap::new();
    let mut items = Vec::new();
    for mail in &mail {
        if first.insert(mail.digest, ()).is_none() {
            items.push(item(mail, items.len() + 1, options));
        }
    }
    let mut notes = Vec::new();
    if items.len() < found {
        notes.push(format!("{found} messages found, {} of them identical to another", found - items.len()));
    }
    Ok(Corpus { name: options.name.clone(), items, inputs: Vec::new(), notes })
}

fn item(mail: &FoundMail, number: usize, options: &OwnMail) -> Item {
    let id = format!("{}_{number:05}", options.name);
    let mut label = Label::new(options.threat);
    label.category.clone_from(&options.category);
    let mut provenance = Provenance::new(options.name.clone(), false);
    provenance.source_id = Some(mail.name.clone());
    let record = EmailRecord {
        eml_path: Some(format!("eml/{id}.eml")),
        id,
        label,
        surface: Vec::new(),
        detector_input: DetectorInput {
            from: mail.from.clone(),
            to: mail.to.clone().map(Addresses::Line),
            subject: Some(mail.subject.clone()),
            ..DetectorInput::default()
        },
        provenance,
        source_metadata: Some(BTreeMap::from([("collection".into(), text(&mail.collection))])),
        sender_auth_condition: options.auth.unwrap_or_else(|| assigned_auth(&mail.digest, options.threat)),
        split: Some("found".into()),
        notes: None,
        eval_role: None,
        extra: BTreeMap::new(),
    };
    Item { record, eml: Some(mail.bytes.clone()) }.with_role()
}
