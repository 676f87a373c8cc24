//! The page of a mail run: what it holds, how large it is, and that nothing in it acts.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "../examples/synthetic_run/data.rs"]
mod data;

use std::fs;
use std::path::Path;

use common::{folder, good, manifest, predictions, row};
use wardline_analysis::{Prepared, Run, RunRequest, Settings, analysis_page};

fn page(folder: &Path, settings: &Settings) -> String {
    let run = Run::read(&RunRequest::new(folder)).unwrap();
    let prepared = Prepared::new(&run, settings).unwrap();
    let analysis = prepared.analyze(None).unwrap();
    analysis_page("E-mail detectors", &analysis, &prepared.curves().unwrap()).unwrap().to_html()
}

#[test]
fn twenty_detectors_on_the_published_shape_stay_small() {
    let folder = tempfile::TempDir::new().unwrap();
    for file in data::files(7).into_iter().filter(|f| f.name.starts_with("run/")) {
        let name = file.name.trim_start_matches("run/");
        fs::write(folder.path().join(name), &file.text).unwrap();
        if name.starts_with("classifier")
            || name.starts_with("service")
            || name.starts_with("rules")
            || name.starts_with("mean")
        {
            let copy = file.text.replace(r#""detector":""#, r#""detector":"copy of "#);
            fs::write(folder.path().join(format!("copy-{name}")), copy).unwrap();
        }
    }
    let settings = Settings { replicates: 20, baseline: Some("judge:small".into()), ..Settings::default() };
    let html = page(folder.path(), &settings);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mail-page.html");
    fs::write(&out, &html).unwrap();
    println!("{} bytes in {}", html.len(), out.display());
    assert!(html.matches("copy of classifier-a").count() > 5);
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    assert!(html.contains("<svg") && html.contains("role=\"img\""));
}

#[test]
fn nothing_on_the_page_acts_or_loads() {
    let hostile = r#"</script><script>alert(1)</script><img src=x onerror=alert(2)>'"&"#;
    let lines = predictions(|n, id| Some(row(id, "x", if n % 2 == 0 { "0" } else { "1" })));
    let escaped = serde_json::to_string(hostile).unwrap();
    let lines = lines.replace(r#""detector":"x""#, &format!(r#""detector":{escaped}"#));
    let folder = folder(&[("manifest_used.jsonl", &manifest()), ("x.jsonl", &lines), ("y.jsonl", &good("y"))]);
    let html = page(folder.path(), &Settings { replicates: 20, ..Settings::default() });
    assert!(html.contains("&lt;script&gt;alert(1)"));
    // The page's own script is the only one, and nothing names another place.
    assert_eq!(html.matches("<script").count(), 1);
    assert!(!html.contains("<img") && !html.contains("alert(2)>\u{27}"));
    for word in ["http://", "https://", "@import", "url(", "src="] {
        let found: Vec<&str> = html.match_indices(word).map(|(i, _)| &html[i.saturating_sub(30)..i]).collect();
        assert!(found.iter().all(|before| before.ends_with("&lt;img ")), "{word}: {found:?}");
    }
    assert!(html.contains("default-src &#39;none&#39;") || html.contains("default-src 'none'"));
}
