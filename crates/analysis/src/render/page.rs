use wardline_report::{
    Axis, Block, Column, Curve, HtmlCell, HtmlTable, Lines, Page, Plot, ReportError, Scatter, ScatterPoint, Section,
    histogram,
};

use super::format::{UNDEFINED, count, detail, number, p_value, signed, threshold};
use super::methods::methods;
use super::{TitledTable, analysis_tables};
use crate::{Analysis, Comparison, DetectorCurves, Difference, Figure, Points, Task, TaskCurves};

/// Size of a large plot.
const LARGE: (u32, u32) = (720, 460);
const SMALL: (u32, u32) = (400, 250);

/// One page for an analysis: headline tables, plots, surfaces, comparisons, data card, methods and provenance.
///
/// # Errors
/// A plot cannot be drawn.
pub fn analysis_page(title: &str, analysis: &Analysis, curves: &[TaskCurves]) -> Result<Page, ReportError> {
    let mut sections = vec![warnings(analysis)];
    for task in Task::PUBLISHED {
        let curves = curves.iter().find(|c| c.task == task);
        sections.push(task_section(analysis, task, curves)?);
    }
    sections.push(surfaces(analysis));
    if !analysis.comparisons.is_empty() {
        sections.push(comparisons(analysis));
    }
    let tables = analysis_tables(analysis);
    let matching = |wanted: &[&str]| {
        tables.iter().filter(|t| wanted.iter().any(|w| t.title.contains(w))).flat_map(plain).collect::<Vec<Block>>()
    };
    for (title, wanted) in [
        ("Canonical against naive view", &["naive view", "structure alone"][..]),
        ("Sources", &["by source, whole population"]),
        ("Sender authentication", &["sender"]),
        ("Scenario-level split", &["scenarios kept together"]),
        ("Tuned thresholds", &["tuned on dev and read once on test"]),
        ("Whole population", &["whole population:"]),
        ("Calibration, latency and cost", &["Calibration", "Latency"]),
    ] {
        let blocks = matching(wanted);
        if !blocks.is_empty() {
            sections.push(Section { title: title.into(), blocks });
        }
    }
    sections.push(Section {
        title: "Data".into(),
        blocks: matching(&["Population against", "Coverage", "know each other"]),
    });
    let mut section = Section::new("Methods");
    section.push(Block::Facts(methods(analysis)));
    sections.push(section);
    sections.push(provenance(analysis));
    let p = &analysis.population;
    let lead = format!(
        "{} detector{} on {} of {} records; dev {}, test {}. Figures are of the test half with {} % intervals unless they say otherwise.",
        analysis.detectors.len(),
        if analysis.detectors.len() == 1 { "" } else { "s" },
        count(p.text_ids),
        count(p.manifest),
        count(p.dev),
        count(p.test),
        analysis.settings.confidence * 100.0
    );
    Ok(Page {
        title: title.into(),
        lead,
        sections,
        footer: format!("Wardline {}, {}.", analysis.version, analysis.schema),
    })
}

fn warnings(analysis: &Analysis) -> Section {
    let mut section = Section::new("Read this first");
    let own = analysis.detectors.iter().flat_map(|d| d.warnings.iter().cloned());
    let all: Vec<String> = analysis.warnings.iter().cloned().chain(own).collect();
    if all.is_empty() {
        section.push(Block::Text("Nothing stands out: every record has a score from every detector.".into()));
    } else {
        section.push(Block::Warnings(all));
    }
    section
}

fn cell(figure: &Figure) -> HtmlCell {
    let Some(value) = figure.value else { return HtmlCell::undefined() };
    let cell = HtmlCell::number(number(figure.value), value);
    match detail(figure) {
        Some(text) => cell.below(text),
        None => cell,
    }
}

fn task_section(analysis: &Analysis, task: Task, curves: Option<&TaskCurves>) -> Result<Section, ReportError> {
    let s = &analysis.settings;
    let counts = analysis.population.tasks.get(&task).copied().unwrap_or_default();
    let caption = format!("Test half: {} positives, {} negatives", count(counts.test_pos), count(counts.test_neg));
    let mut table = HtmlTable::new(
        caption,
        [
            Column::text("detector"),
            Column::number("AUC"),
            Column::number(format!("TPR at {} % FPR", s.target_fpr * 100.0)),
            Column::number(format!("recall at {}", s.threshold)),
            Column::number(format!("FPR at {}", s.threshold)),
            Column::number("average precision"),
            Column::number("coverage"),
            Column::number("p95 ms"),
        ],
    );
    for d in &analysis.detectors {
        let Some(result) = d.tasks.get(&task) else { continue };
        let share = result.coverage.share();
        let name = HtmlCell::text(d.detector.clone());
        let tpr = at_target(&result.test);
        table.row([
            if d.carried_forward { name.below("carried forward") } else { name },
            cell(&result.test.auc),
            tpr,
            cell(&result.test.recall),
            cell(&result.test.fpr),
            cell(&result.test.average_precision),
            share.map_or_else(HtmlCell::undefined, |v| HtmlCell::number(format!("{:.1} %", v * 100.0), v)),
            d.cost
                .latency_ms_p95
                .map_or_else(|| HtmlCell::text("not given"), |v| HtmlCell::number(format!("{v:.0}"), v)),
        ]);
    }
    let mut section = Section::new(task.title());
    section.push(Block::Table(table));
    if let Some(curves) = curves.filter(|c| !c.detectors.is_empty()) {
        section.push(Block::Plots { plots: large_plots(analysis, task, &curves.detectors)?, small: false });
        let histograms: Result<Vec<Plot>, ReportError> = curves
            .detectors
            .iter()
            .map(|d| {
                let description = format!(
                    "Share of {} positives (up) and {} negatives (down) in 20 bins of the score.",
                    d.positives.iter().sum::<u64>(),
                    d.negatives.iter().sum::<u64>()
                );
                histogram(&d.detector, &description, &d.positives, &d.negatives, SMALL)
            })
            .collect();
        section.push(Block::Folded {
            summary: "Score histograms".into(),
            blocks: vec![Block::Plots { plots: histograms?, small: true }],
        });
        section.push(Block::Folded {
            summary: "Recall and false-positive rate by threshold".into(),
            blocks: vec![Block::Plots { plots: threshold_plots(&curves.detectors)?, small: true }],
        });
    }
    Ok(section)
}

/// Recall at the target with what the attainable threshold realises.
fn at_target(points: &Points) -> HtmlCell {
    let Some(value) = points.tpr_at_target_fpr.value else { return HtmlCell::undefined() };
    let realised = match points.attainable_threshold {
        Some(at) => format!("realises FPR {} from {}", number(points.realised_fpr), threshold(Some(at))),
        None => "no score is low enough in false alarms".into(),
    };
    let below = detail(&points.tpr_at_target_fpr).map_or(realised.clone(), |d| format!("{d}\n{realised}"));
    HtmlCell::number(number(Some(value)), value).below(below)
}

fn large_plots(analysis: &Analysis, task: Task, detectors: &[DetectorCurves]) -> Result<Vec<Plot>, ReportError> {
    let curve = |read: fn(&DetectorCurves) -> &Vec<(f64, f64)>| -> Vec<Curve> {
        let of = |d: &DetectorCurves| Curve { name: d.detector.clone(), points: read(d).clone(), marked: false };
        detectors.iter().map(of).collect()
    };
    let best = |read: fn(&Points) -> Option<f64>| {
        let points = analysis.detectors.iter().filter_map(|d| Some((d, read(&d.tasks.get(&task)?.test)?)));
        points
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map_or("nothing is defined".to_owned(), |(d, v)| format!("highest: {} with {v:.3}", d.detector))
    };
    let target = analysis.settings.target_fpr;
    let roc = curve(|d| &d.roc);
    let mut plots = vec![
        Lines {
            title: "ROC curves",
            description: &format!("Recall against false-positive rate on the test half. AUC {}.", best(|p| p.auc.value)),
            x: Axis::linear("false-positive rate", 0.0, 1.0),
            y: Axis::linear("recall", 0.0, 1.0),
            guides: &[[(0.0, 0.0), (1.0, 1.0)]],
            curves: &roc,
            size: LARGE,
        }
        .draw()?,
        Lines {
            title: "ROC curves where a gateway works",
            description: &format!(
                "The same with a logarithmic false-positive rate; the line marks the target of {target}. Recall there: {}.",
                best(|p| p.tpr_at_target_fpr.value)
            ),
            x: Axis::log("false-positive rate (logarithmic)", 0.0005, 1.0),
            y: Axis::linear("recall", 0.0, 1.0),
            guides: &[[(target, 0.0), (target, 1.0)]],
            curves: &stepped(&roc),
            size: LARGE,
        }
        .draw()?,
        Lines {
            title: "Precision against recall",
            description: &format!("Average precision {}.", best(|p| p.average_precision.value)),
            x: Axis::linear("recall", 0.0, 1.0),
            y: Axis::linear("precision", 0.0, 1.0),
            guides: &[],
            curves: &curve(|d| &d.precision_recall),
            size: LARGE,
        }
        .draw()?,
    ];
    plots.push(reliability(analysis, task)?);
    plots.push(scatter(analysis, task)?);
    Ok(plots)
}

/// On a logarithmic axis a straight stretch between two attainable points would be drawn as a curve that no threshold gives: steps
/// claim only what is attained.
fn stepped(curves: &[Curve]) -> Vec<Curve> {
    curves
        .iter()
        .map(|c| {
            let mut points = Vec::with_capacity(2 * c.points.len());
            for (n, &(x, y)) in c.points.iter().enumerate() {
                if let Some(&(_, before)) = n.checked_sub(1).and_then(|n| c.points.get(n)) {
                    points.push((x, before));
                }
                points.push((x, y));
            }
            Curve { name: c.name.clone(), points, marked: false }
        })
        .collect()
}

fn reliability(analysis: &Analysis, task: Task) -> Result<Plot, ReportError> {
    let curves: Vec<Curve> = analysis
        .detectors
        .iter()
        .filter_map(|d| {
            let calibration = d.tasks.get(&task)?.calibration.as_ref()?;
            let points = calibration.bins.iter().map(|b| (b.3, b.4)).collect();
            Some(Curve { name: format!("{} (ECE {:.3})", d.shown(), calibration.expected_error), points, marked: true })
        })
        .collect();
    Lines {
        title: "Reliability",
        description: "Share of positives against mean score in ten bins; a detector whose scores are probabilities follows the diagonal.",
        x: Axis::linear("mean score", 0.0, 1.0),
        y: Axis::linear("share of positives", 0.0, 1.0),
        guides: &[[(0.0, 0.0), (1.0, 1.0)]],
        curves: &curves,
        size: LARGE,
    }
    .draw()
}

fn scatter(analysis: &Analysis, task: Task) -> Result<Plot, ReportError> {
    let ends = |figure: &Figure, complement: bool| {
        let value = figure.value.unwrap_or(f64::NAN);
        let (low, high) = figure.interval.map_or((value, value), |i| (i.low, i.high));
        if complement { [1.0 - high, 1.0 - value, 1.0 - low] } else { [low, value, high] }
    };
    let points: Vec<ScatterPoint> = analysis
        .detectors
        .iter()
        .filter_map(|d| {
            let test = &d.tasks.get(&task)?.test;
            Some(ScatterPoint {
                name: d.shown(),
                x: ends(&test.fpr, true),
                y: ends(&test.recall, false),
                control: false,
            })
        })
        .collect();
    let mut scatter = Scatter {
        title: "Caught attacks against delivered mail",
        description: "",
        x: Axis::linear(format!("share of negatives not flagged at {}", analysis.settings.threshold), 0.0, 1.0),
        y: Axis::linear("share of positives flagged", 0.0, 1.0),
        points: &points,
        size: LARGE,
    };
    let front: Vec<&str> = scatter.front().into_iter().map(|n| points[n].name.as_str()).collect();
    let description =
        format!("Each detector with intervals in both directions. On the Pareto front: {}.", front.join(", "));
    scatter.description = &description;
    scatter.draw()
}

fn threshold_plots(detectors: &[DetectorCurves]) -> Result<Vec<Plot>, ReportError> {
    let draw = |d: &DetectorCurves| {
        let curve = |name: &str, read: fn(&(f64, f64, f64)) -> f64| Curve {
            name: name.into(),
            points: d.thresholds.iter().map(|p| (p.0, read(p))).collect(),
            marked: false,
        };
        Lines {
            title: &d.detector,
            description: "Recall and false-positive rate at each threshold.",
            x: Axis::linear("threshold", 0.0, 1.0),
            y: Axis::linear("share flagged", 0.0, 1.0),
            guides: &[],
            curves: &[curve("recall", |p| p.1), curve("false-positive rate", |p| p.2)],
            size: SMALL,
        }
        .draw()
    };
    detectors.iter().map(draw).collect()
}

fn surfaces(analysis: &Analysis) -> Section {
    let mut section = Section::new("Surfaces");
    let slices = |d: &crate::DetectorResult| {
        let of = d.tasks.get(&Task::Injection).and_then(|t| t.slices.iter().find(|s| s.by == "surface"));
        of.map(|s| s.slices.clone()).unwrap_or_default()
    };
    let mut names: Vec<String> = Vec::new();
    for slice in analysis.detectors.iter().flat_map(&slices).filter(|s| s.n_pos > 0) {
        if !names.contains(&slice.name) {
            names.push(slice.name);
        }
    }
    names.sort();
    let headings = names.iter().map(|n| Column::number(n.replace('_', " ")));
    let mut table = HtmlTable::new(
        format!(
            "Injection recall at {} by surface, whole population; darker is higher; a dashed line marks fewer than 30 records",
            analysis.settings.threshold
        ),
        std::iter::once(Column::text("detector")).chain(headings),
    );
    for d in &analysis.detectors {
        let slices = slices(d);
        let cells = names.iter().map(|name| match slices.iter().find(|s| s.name == *name) {
            Some(slice) => match slice.recall.value {
                Some(value) => cell(&slice.recall).heat(value).few(slice.n_pos < 30),
                None => HtmlCell::undefined(),
            },
            None => HtmlCell::text(UNDEFINED),
        });
        table.row(std::iter::once(HtmlCell::text(d.shown())).chain(cells));
    }
    section.push(Block::Table(table));
    section
}

fn comparisons(analysis: &Analysis) -> Section {
    let mut section = Section::new("Paired comparisons");
    for task in Task::PUBLISHED {
        let rows: Vec<&Comparison> = analysis.comparisons.iter().filter(|c| c.task == task).collect();
        let Some(first) = rows.first() else { continue };
        let mut table = HtmlTable::new(
            format!("{}: each detector minus {}, on the test rows that both score", task.title(), first.baseline),
            [
                Column::text("detector"),
                Column::number("AUC"),
                Column::number(format!("TPR at {} % FPR", analysis.settings.target_fpr * 100.0)),
                Column::number("recall"),
                Column::number("FPR"),
                Column::number("rows"),
            ],
        );
        for c in rows {
            let difference = |d: &Difference| match d.difference.value {
                Some(value) => HtmlCell::number(signed(&d.difference), value).below(format!(
                    "p {} (Holm {})",
                    p_value(d.p),
                    p_value(d.p_holm)
                )),
                None => HtmlCell::undefined(),
            };
            table.row([
                HtmlCell::text(c.detector.clone()),
                difference(&c.auc),
                difference(&c.tpr_at_target_fpr),
                difference(&c.recall),
                difference(&c.fpr),
                HtmlCell::number(count(c.rows), c.rows as f64),
            ]);
        }
        section.push(Block::Table(table));
    }
    section
}

/// A table of text as a table of the page.
fn plain(titled: &TitledTable) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(table) = &titled.table {
        blocks.push(Block::Table(HtmlTable::from_table(&titled.title, table)));
    }
    blocks.extend(titled.notes.iter().cloned().map(Block::Text));
    blocks
}

fn provenance(analysis: &Analysis) -> Section {
    let s = &analysis.settings;
    let mut facts = vec![
        ("Version".to_owned(), format!("Wardline {}", analysis.version)),
        ("Manifest, SHA-256".into(), analysis.manifest_sha256.clone()),
        ("Population signature".into(), analysis.population_signature.clone()),
        ("Seed, replicates".into(), format!("{}, {}", s.seed, s.replicates)),
    ];
    for d in &analysis.detectors {
        let identity: Vec<String> = d.identity.iter().map(|(k, v)| format!("{k} {v}")).collect();
        let file = if d.predictions_sha256.is_empty() {
            String::new()
        } else {
            format!("predictions {}", d.predictions_sha256)
        };
        let parts: Vec<String> = identity.into_iter().chain((!file.is_empty()).then_some(file)).collect();
        facts.push((d.detector.clone(), parts.join("; ")));
    }
    let mut section = Section::new("Provenance");
    section.push(Block::Facts(facts));
    section
}
