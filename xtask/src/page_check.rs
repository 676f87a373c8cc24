//! `cargo xtask page-check FILE`: opens a page in headless Chromium at two widths, and runs axe-core on it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use wardline_cli::{Exit, Failure, Stdout};

use crate::shell::{root, step};

/// The version of axe-core that npm is asked for.
const AXE: &str = "axe-core@4.14.1";
const WIDTHS: [u32; 2] = [1280, 390];

/// Check pages in headless Chromium: console, requests, axe-core, size and time; screenshots beside
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pages to check
    #[arg(required = true)]
    pages: Vec<PathBuf>,
}

pub(crate) fn run(args: &Args, out: &mut Stdout) -> Result<Exit, Failure> {
    let folder = root().join("target/page-check");
    fs::create_dir_all(&folder)?;
    let axe = axe(&folder, out)?;
    let mut wrong = Vec::new();
    for page in &args.pages {
        let page = fs::canonicalize(page).map_err(|e| Failure::usage(format!("{}: {e}", page.display())))?;
        let name = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = fs::metadata(&page)?.len();
        writeln!(out, "{}: {bytes} bytes", page.display())?;
        wrong.extend(quiet(&page, &folder)?);
        for width in WIDTHS {
            screenshot(&page, &folder, &name, width)?;
            for dark in [false, true] {
                let found = audit(&page, &folder, &axe, width, dark)?;
                let load = found["load"].as_f64().unwrap_or(f64::NAN);
                let violations = found["violations"].as_array().cloned().unwrap_or_default();
                writeln!(
                    out,
                    "  {width} px, {}: loaded in {load:.0} ms, axe-core finds {} violations",
                    if dark { "dark" } else { "light" },
                    violations.len()
                )?;
                let asked = found["resources"].as_array().cloned().unwrap_or_default();
                wrong.extend(asked.iter().map(|name| format!("{name} is asked for")));
                wrong.extend(violations.iter().map(|v| {
                    format!(
                        "{name} at {width} px: {} ({}), {} places: {}",
                        v["id"], v["impact"], v["places"], v["first"]
                    )
                }));
            }
        }
    }
    for line in &wrong {
        writeln!(out, "  {line}")?;
    }
    writeln!(out, "screenshots in {}", folder.display())?;
    if wrong.is_empty() { Ok(Exit::Ok) } else { Err(Failure::new(Exit::Failed, format!("{} findings", wrong.len()))) }
}

/// The script of axe-core, from npm.
fn axe(folder: &Path, out: &mut Stdout) -> Result<String, Failure> {
    let script = folder.join("node_modules/axe-core/axe.min.js");
    if !script.is_file() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix"]).arg(folder).arg(AXE);
        step(out, "axe-core from npm", &mut npm)?;
    }
    Ok(fs::read_to_string(script)?.replace("</script", "<\\/script"))
}

/// Chromium with a profile of its own, which talks to nobody.
fn chromium(folder: &Path, width: u32) -> Command {
    let mut command = Command::new("chromium");
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
    ]);
    let profile = folder.join("profile");
    // A profile left from before would bring its own state; there may be none.
    let _ = fs::remove_dir_all(&profile);
    command.arg(format!("--user-data-dir={}", profile.display())).arg(format!("--window-size={width},2400"));
    command
}

fn output(command: &mut Command) -> Result<(String, String), Failure> {
    let output = command
        .output()
        .map_err(|e| Failure::usage(format!("chromium: {e} (Debian has it in the package chromium)")))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((text(&output.stdout), text(&output.stderr)))
}

/// What the page says on the console; a request that its policy forbids is told there too.
fn quiet(page: &Path, folder: &Path) -> Result<Vec<String>, Failure> {
    let mut command = chromium(folder, WIDTHS[0]);
    let (_, said) = output(command.arg("--enable-logging=stderr").arg("--dump-dom").arg(url(page)))?;
    Ok(said.lines().filter(|l| l.contains(":CONSOLE")).map(|l| format!("console: {l}")).collect())
}

fn url(page: &Path) -> String {
    format!("file://{}", page.display())
}

/// A page of the width that only frames the page: headless windows are never narrower than 500 pixels.
fn framed(page: &Path, folder: &Path, width: u32) -> Result<PathBuf, Failure> {
    let frame = folder.join("frame.html");
    let html = format!(
        "<!doctype html><body style='margin:0'><iframe src='{}' style='border:0;width:{width}px;height:2400px'></iframe>",
        url(page)
    );
    fs::write(&frame, html)?;
    Ok(frame)
}

fn screenshot(page: &Path, folder: &Path, name: &str, width: u32) -> Result<(), Failure> {
    let shown = if width < 500 { framed(page, folder, width)? } else { page.to_owned() };
    let file = folder.join(format!("{name}-{width}.png"));
    output(chromium(folder, width.max(500)).arg(format!("--screenshot={}", file.display())).arg(url(&shown)))?;
    if file.is_file() { Ok(()) } else { Err(Failure::new(Exit::Failed, format!("no screenshot {}", file.display()))) }
}

/// Runs axe-core in a copy of the page, whose policy would forbid it, and reads what it finds. Everything folded is opened first.
fn audit(page: &Path, folder: &Path, axe: &str, width: u32, dark: bool) -> Result<Value, Failure> {
    let html = fs::read_to_string(page)?;
    let (before, rest) = html
        .split_once("<meta http-equiv=\"Content-Security-Policy\"")
        .ok_or_else(|| Failure::new(Exit::Failed, format!("{}: no content security policy", page.display())))?;
    let after = rest.split_once('>').map_or("", |(_, after)| after);
    let copy = folder.join("audited.html");
    fs::write(
        &copy,
        format!("{before}{after}").replace("</body>", &format!("<script>{axe}</script><script>{RUN}</script></body>")),
    )?;
    let mut command = chromium(folder, width);
    command.args(["--virtual-time-budget=60000", "--timeout=120000"]);
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    let (dom, _) = output(command.arg("--dump-dom").arg(url(&copy)))?;
    let found =
        dom.split_once("<pre id=\"axe\">").and_then(|(_, rest)| rest.split_once("</pre>")).map(|(json, _)| json);
    let found =
        found.ok_or_else(|| Failure::new(Exit::Failed, format!("{}: axe-core gave nothing", page.display())))?;
    let json = found.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    Ok(serde_json::from_str(&json)?)
}

const RUN: &str = r#"
addEventListener("load", function () { setTimeout(function () {
  var load = performance.getEntriesByType("navigation")[0].loadEventEnd;
  var asked = performance.getEntriesByType("resource").map(function (r) { return r.name; });
  document.querySelectorAll("details").forEach(function (d) { d.open = true; });
  axe.run().then(function (found) {
    var pre = document.createElement("pre");
    pre.id = "axe";
    pre.textContent = JSON.stringify({ load: load, resources: asked, violations: found.violations.map(function (v) {
      return { id: v.id, impact: v.impact, places: v.nodes.length, first: v.nodes[0].html.slice(0, 160) };
    }) });
    document.body.innerHTML = "";
    document.body.appendChild(pre);
  });
}, 20); });
"#;
