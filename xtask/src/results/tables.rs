//! The tables of the document, from the JSON of an analysis.

use serde_json::Value;
use wardline_cli::{Exit, Failure};
use wardline_report::{Column, Table};

pub(super) fn table(name: &str, analysis: &Value) -> Result<String, Failure> {
    let table = match name {
        "counts" => counts(analysis),
        "headline" => headline(analysis),
        "structure" => structure(analysis, "heuristics"),
        "structure-ngram" => structure(analysis, "ngram-injection"),
        "sources" => sources(analysis),
        "tiers" => tiers(analysis),
        _ => return Err(Failure::new(Exit::Failed, format!("docs/results.md: there is no table {name}"))),
    };
    Ok(table.to_markdown())
}

fn find<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    list.as_array().into_iter().flatten().find(|x| x[key] == name).unwrap_or(&Value::Null)
}

/// `.925`, `1.000`.
fn number(value: &Value) -> String {
    value.as_f64().map_or_else(|| "undefined".to_owned(), |v| short(format!("{v:.3}")))
}

fn short(text: String) -> String {
    match text.strip_prefix("0.") {
        Some(digits) => format!(".{digits}"),
        None => text.replace("-0.", "-.").replace("+0.", "+."),
    }
}

fn figure(figure: &Value) -> String {
    let (low, high) = (&figure["interval"]["low"], &figure["interval"]["high"]);
    if low.is_null() {
        number(figure.get("value").unwrap_or(&Value::Null))
    } else {
        format!("{} ({} to {})", number(&figure["value"]), number(low), number(high))
    }
}

fn signed(figure: &Value) -> String {
    let text = |v: &Value| v.as_f64().map_or_else(|| "undefined".to_owned(), |v| short(format!("{v:+.3}")));
    let (low, high) = (&figure["interval"]["low"], &figure["interval"]["high"]);
    format!("{} ({} to {})", text(&figure["value"]), text(low), text(high))
}

fn count(value: &Value) -> String {
    let digits = value.as_u64().unwrap_or_default().to_string();
    match digits.len() {
        n if n > 3 => format!("{},{}", &digits[..n - 3], &digits[n - 3..]),
        _ => digits,
    }
}

fn counts(analysis: &Value) -> Table {
    let columns = [Column::text("count"), Column::number("published"), Column::number("here"), Column::number("")];
    let mut table = Table::new(columns);
    for part in analysis["population"]["recipe"].as_array().into_iter().flatten() {
        let difference = part["here"].as_i64().unwrap_or_default() - part["published"].as_i64().unwrap_or_default();
        let difference = if difference == 0 { "same".to_owned() } else { format!("{difference:+}") };
        let name = part["part"].as_str().unwrap_or_default().to_owned();
        table.row([name, count(&part["published"]), count(&part["here"]), difference]);
    }
    table
}

fn headline(analysis: &Value) -> Table {
    let mut table = Table::new([
        Column::text("test half"),
        Column::number("positives"),
        Column::number("negatives"),
        Column::number("AUC"),
        Column::number("TPR at 1 % FPR"),
        Column::number("realised FPR"),
        Column::number("recall at .35"),
        Column::number("FPR at .35"),
    ]);
    let mut row = |name: String, p: &Value| {
        table.row([
            name,
            count(&p["n_pos"]),
            count(&p["n_neg"]),
            figure(&p["auc"]),
            figure(&p["tpr_at_target_fpr"]),
            number(&p["realised_fpr"]),
            figure(&p["recall"]),
            figure(&p["fpr"]),
        ]);
    };
    for (task, what, trained) in [("pi", "injection", "ngram-injection"), ("phishing", "phishing", "ngram-phishing")] {
        for detector in ["heuristics", trained] {
            let found = find(&analysis["detectors"], "detector", detector);
            row(format!("{what}: {detector}"), &found["tasks"][task]["test"]);
        }
        if task == "pi" {
            let apart = &analysis["scenario_level"]["tasks"][task]["heuristics"];
            row(format!("{what}: heuristics, scenarios kept together"), apart);
        }
    }
    table
}

const SURFACES: [(&str, &str); 8] = [
    ("encoded_obfuscated", "encoded or fragmented HTML"),
    ("multipart_mismatch", "multipart mismatch"),
    ("html_hidden_css", "CSS-hidden HTML"),
    ("plaintext_body", "plain text"),
    ("html_body", "visible HTML"),
    ("header", "header (subject)"),
    ("quoted_thread", "quoted thread"),
    ("pdf_attachment", "PDF attachment"),
];

fn structure(analysis: &Value, detector: &str) -> Table {
    let mut table = Table::new([
        Column::text(format!("{detector}, test half")),
        Column::number("n"),
        Column::number("canonical"),
        Column::number("naive"),
        Column::number("difference"),
    ]);
    let view = find(&analysis["views_test"], "detector", detector);
    let cells = |name: &str, n: &Value, canonical: &Value, naive: &Value, of: &Value| {
        let same = of["only_one"] == serde_json::json!([0, 0]);
        let lost = signed(&of["recall_lost"]);
        let lost = if same { format!("{lost}, no record differs") } else { lost };
        [name.to_owned(), count(n), figure(canonical), figure(naive), lost]
    };
    let (canonical, naive) = (&view["canonical"], &view["naive"]);
    table.row(cells("all", &canonical["n_pos"], &canonical["recall"], &naive["recall"], view));
    for surface in view["surfaces"].as_array().into_iter().flatten() {
        let name = surface["name"].as_str().unwrap_or_default();
        let words = SURFACES.iter().find(|(key, _)| *key == name).map_or(name, |(_, words)| words);
        table.row(cells(words, &surface["n_pos"], &surface["canonical"], &surface["naive"], surface));
    }
    table
}

/// Of a trained model the whole population is the test half: it refuses the rest.
fn sources(analysis: &Value) -> Table {
    let mut table = Table::new([
        Column::text("ngram-injection, test half"),
        Column::number("injections"),
        Column::number("recall at .35"),
        Column::number("AUC"),
        Column::number("negatives"),
        Column::number("FPR at .35"),
    ]);
    let found = find(&analysis["detectors"], "detector", "ngram-injection");
    let slices = find(&found["tasks"]["pi"]["slices"], "by", "source");
    for s in slices["slices"].as_array().into_iter().flatten() {
        let or_none = |n: &Value, text: String| if n.as_u64() == Some(0) { "none".to_owned() } else { text };
        table.row([
            s["name"].as_str().unwrap_or_default().to_owned(),
            count(&s["n_pos"]),
            or_none(&s["n_pos"], figure(&s["recall"])),
            or_none(&s["n_pos"], number(&s["auc"])),
            count(&s["n_neg"]),
            or_none(&s["n_neg"], figure(&s["fpr"])),
        ]);
    }
    table
}

fn tiers(analysis: &Value) -> Table {
    let mut table = Table::new([
        Column::text("heuristics, tuned on dev"),
        Column::number("verified from"),
        Column::number("others from"),
        Column::number("recall on test"),
        Column::number("FPR on test"),
    ]);
    let t = &find(&analysis["detectors"], "detector", "heuristics")["two_tier"];
    let two = [&t["t_verified"], &t["t_other"], &t["test_recall"], &t["test_fpr"]].map(number);
    table.row(["two thresholds".to_owned()].into_iter().chain(two));
    let one = [&t["single_threshold"], &t["single_threshold"], &t["single_test_recall"], &t["single_test_fpr"]];
    table.row(["one threshold".to_owned()].into_iter().chain(one.map(number)));
    table
}
