use super::{Block, HtmlCell, HtmlTable, Page, Section};
use crate::table::Column;
use crate::{Axis, Curve, Lines, ReportError, Scatter, ScatterPoint};

/// A count of a whole, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// The interval; `None` where there is none.
    pub interval: Option<(f64, f64)>,
}

impl Share {
    fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.count as f64 / self.of as f64)
    }

    fn cell(self) -> HtmlCell {
        let Some(value) = self.value() else { return HtmlCell::undefined() };
        let cell = HtmlCell::number(format!("{:.1} %", 100.0 * value), value);
        let interval = self.interval.map_or(String::new(), |(a, b)| format!("{:.1} to {:.1}\n", 100.0 * a, 100.0 * b));
        cell.below(format!("{interval}{} of {}", self.count, self.of))
    }

    fn ends(self) -> [f64; 3] {
        let value = self.value().unwrap_or(f64::NAN);
        let (low, high) = self.interval.unwrap_or((value, value));
        [low, value, high]
    }
}

/// One defense's results.
#[derive(Debug, Clone, PartialEq)]
pub struct DefenseRow {
    /// The defense.
    pub name: String,
    /// Whether it is a control (`allow-all`, `deny-all`).
    pub control: bool,
    /// Injection scenarios blocked.
    pub blocked: Share,
    /// Injection scenarios blocked for what the injection did; `None` where the corpus does not tell.
    pub attributable: Option<Share>,
    /// Injection scenarios that ended at a call of the user's own task.
    pub halted_in_task: Option<u64>,
    /// Benign tasks kept.
    pub kept: Share,
}

/// What a classifier defense does at each threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdSweep {
    /// The defense.
    pub name: String,
    /// Threshold, share blocked, share kept.
    pub points: Vec<(f64, f64, f64)>,
}

/// The results of an agent run, for one page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentPage {
    /// The title.
    pub title: String,
    /// The corpus, in one sentence.
    pub corpus: String,
    /// What the reader must not miss.
    pub warnings: Vec<String>,
    /// All scenarios, in the order of the table.
    pub rows: Vec<DefenseRow>,
    /// The same by suite, attack, or whatever the corpus is divided by: heading and rows.
    pub parts: Vec<(String, Vec<DefenseRow>)>,
    /// Classifier thresholds.
    pub sweeps: Vec<ThresholdSweep>,
    /// Further tables, such as paired comparisons or the label sweep.
    pub tables: Vec<HtmlTable>,
    /// The corpus: counts, sources, digests.
    pub data: Vec<(String, String)>,
    /// What the figures depend on: versions, digests, settings.
    pub provenance: Vec<(String, String)>,
    /// How the figures are made: name and definition.
    pub methods: Vec<(String, String)>,
    /// The last line.
    pub footer: String,
}

impl AgentPage {
    /// Lays out the page.
    ///
    /// # Errors
    /// A plot cannot be drawn.
    pub fn page(&self) -> Result<Page, ReportError> {
        let mut sections = Vec::new();
        let mut headline = Section::new("Results");
        headline.push(Block::Warnings(self.warnings.clone()));
        headline.push(Block::Table(table("Every defense on the whole corpus, with 95 % intervals", &self.rows)));
        headline.push(Block::Plots { plots: vec![self.scatter()?], small: false });
        sections.push(headline);
        if !self.sweeps.is_empty() {
            let mut section = Section::new("Thresholds");
            section.push(Block::Plots { plots: self.thresholds()?, small: false });
            sections.push(section);
        }
        if !self.parts.is_empty() {
            let mut section = Section::new("By part of the corpus");
            for (heading, rows) in &self.parts {
                section.push(Block::Table(table(heading, rows)));
            }
            sections.push(section);
        }
        if !self.tables.is_empty() {
            let mut section = Section::new("Further tables");
            section.blocks.extend(self.tables.iter().cloned().map(Block::Table));
            sections.push(section);
        }
        for (title, facts) in [("Data", &self.data), ("Methods", &self.methods), ("Provenance", &self.provenance)] {
            if !facts.is_empty() {
                let mut section = Section::new(title);
                section.push(Block::Facts(facts.clone()));
                sections.push(section);
            }
        }
        Ok(Page { title: self.title.clone(), lead: self.corpus.clone(), sections, footer: self.footer.clone() })
    }

    fn scatter(&self) -> Result<crate::Plot, ReportError> {
        let points: Vec<ScatterPoint> = self
            .rows
            .iter()
            .map(|r| ScatterPoint {
                name: if r.control { format!("{} (control, a cross)", r.name) } else { r.name.clone() },
                x: r.kept.ends(),
                y: r.blocked.ends(),
                control: r.control,
            })
            .collect();
        let mut scatter = Scatter {
            title: "Blocked injections against kept tasks",
            description: "",
            x: Axis::linear("benign tasks kept", 0.0, 1.0),
            y: Axis::linear("injections blocked", 0.0, 1.0),
            points: &points,
            size: (720, 480),
        };
        let front: Vec<&str> = scatter.front().into_iter().map(|n| points[n].name.as_str()).collect();
        let description = format!(
            "Each defense's share of injections blocked against its share of benign tasks kept, with intervals; controls are crosses. \
             On the Pareto front: {}.",
            front.join(", ")
        );
        scatter.description = &description;
        scatter.draw()
    }

    fn thresholds(&self) -> Result<Vec<crate::Plot>, ReportError> {
        let lowest = self.sweeps.iter().flat_map(|s| &s.points).map(|p| p.0).fold(0.9, f64::min);
        let draw = |title: &str, label: &str, read: fn(&(f64, f64, f64)) -> f64| {
            let curves: Vec<Curve> = self
                .sweeps
                .iter()
                .map(|s| Curve {
                    name: s.name.clone(),
                    points: s.points.iter().map(|p| (p.0, read(p))).collect(),
                    marked: true,
                })
                .collect();
            Lines {
                title,
                description: &format!("{title} for each classifier; the values stand in the tables below."),
                x: Axis::linear("threshold", lowest.max(0.0), 1.0),
                y: Axis::linear(label, 0.0, 1.0),
                guides: &[],
                curves: &curves,
                size: (720, 440),
            }
            .draw()
        };
        Ok(vec![
            draw("Injections blocked by threshold", "blocked", |p| p.1)?,
            draw("Benign tasks kept by threshold", "kept", |p| p.2)?,
        ])
    }
}

fn table(caption: &str, rows: &[DefenseRow]) -> HtmlTable {
    let attributable = rows.iter().any(|r| r.attributable.is_some());
    let halted = rows.iter().any(|r| r.halted_in_task.is_some());
    let mut columns = vec![Column::text("defense"), Column::number("injections blocked")];
    columns.extend(attributable.then(|| Column::number("attributable")));
    columns.extend(halted.then(|| Column::number("halted in task")));
    columns.push(Column::number("benign tasks kept"));
    let mut table = HtmlTable::new(caption, columns);
    for r in rows {
        let mut cells = vec![HtmlCell::text(r.name.clone()), r.blocked.cell()];
        if r.control {
            cells[0] = HtmlCell::text(r.name.clone()).below("control");
        }
        if attributable {
            cells.push(r.attributable.map_or_else(HtmlCell::undefined, Share::cell));
        }
        if halted {
            cells
                .push(r.halted_in_task.map_or_else(HtmlCell::undefined, |n| HtmlCell::number(n.to_string(), n as f64)));
        }
        cells.push(r.kept.cell());
        if r.control { table.control(cells) } else { table.row(cells) }
    }
    table
}
