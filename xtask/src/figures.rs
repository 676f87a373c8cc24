//! Published figures, and ours beside them.

use serde::Deserialize;
use serde_json::{Map, Value};
use wardline_cli::{Exit, Failure};
use wardline_report::{Column, Table};

/// A command of `deveval` and the figures that were published for it, by their path in its JSON.
#[derive(Deserialize)]
pub(crate) struct Run {
    pub(crate) title: String,
    pub(crate) args: Vec<String>,
    figures: Map<String, Value>,
}

impl Run {
    /// Number of figures.
    pub(crate) fn len(&self) -> usize {
        self.figures.len()
    }
}

#[derive(Deserialize)]
struct Figures {
    runs: Vec<Run>,
}

pub(crate) fn agent() -> Result<Vec<Run>, Failure> {
    Ok(serde_json::from_str::<Figures>(include_str!("../figures/agent.json"))?.runs)
}

/// The table of a run and how many of its figures differ.
pub(crate) fn compare(run: &Run, result: &Value) -> Result<(Table, usize), Failure> {
    let columns = [Column::text("figure"), Column::number("published"), Column::number("ours"), Column::text("")];
    let mut table = Table::new(columns);
    let mut differ = 0;
    for (name, published) in &run.figures {
        let ours =
            ours(result, name).ok_or_else(|| Failure::new(Exit::Failed, format!("{}: no figure {name}", run.title)))?;
        let equal = ours == *published;
        differ += usize::from(!equal);
        table.row([name.clone(), shown(published), shown(&ours), if equal { "equal" } else { "DIFFERS" }.to_owned()]);
    }
    Ok((table, differ))
}

/// The value at a path: a list's element goes by its `defense`, `model` or `rate`; a name that ends in ` %` asks for a percentage
/// rounded to a whole number, one in ` .3` for three decimal places, one in ` n` for a list's length; a list of words is
/// compared as one text.
fn ours(result: &Value, name: &str) -> Option<Value> {
    let (path, form) = name.split_once(' ').unwrap_or((name, ""));
    let found = path.split('/').try_fold(result, |value, key| match value {
        Value::Array(list) => list.iter().find(|x| {
            ["defense", "model", "rate"].iter().any(|field| match &x[*field] {
                Value::String(s) => s == key,
                Value::Number(n) => key.parse().ok() == n.as_f64(),
                _ => false,
            })
        }),
        _ => value.get(key),
    })?;
    match form {
        "" => match found {
            Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ").into()),
            other => Some(other.clone()),
        },
        "%" => Some(((100.0 * found.as_f64()?).round() as i64).into()),
        "n" => Some(found.as_array()?.len().into()),
        places => {
            let places: usize = places.strip_prefix('.')?.parse().ok()?;
            serde_json::from_str(&format!("{:.places$}", found.as_f64()?)).ok()
        }
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Run, agent, compare, ours};

    #[test]
    fn paths() {
        let result = json!({
            "results": [{"defense": "a", "kept": 3}, {"defense": "b", "kept": 4, "mean": 0.0456}],
            "sweep": [{"rate": 0.0, "x": 0.5}, {"rate": 0.2, "x": 0.846}],
            "names": ["p", "q"],
        });
        assert_eq!(ours(&result, "results/b/kept"), Some(json!(4)));
        assert_eq!(ours(&result, "results/b/mean .3"), Some(json!(0.046)));
        assert_eq!(ours(&result, "sweep/0.2/x %"), Some(json!(85)));
        assert_eq!(ours(&result, "sweep/0/x"), Some(json!(0.5)));
        assert_eq!(ours(&result, "names"), Some(json!("p q")));
        assert_eq!(ours(&result, "names n"), Some(json!(2)));
        assert_eq!(ours(&result, "results/c/kept"), None);
    }

    #[test]
    fn a_difference_counts_and_a_missing_figure_fails() {
        let figures = json!({"title": "t", "args": [], "figures": {"kept": 3, "blocked": 1}});
        let run: Run = serde_json::from_value(figures).unwrap();
        assert_eq!(compare(&run, &json!({"kept": 3, "blocked": 2})).unwrap().1, 1);
        assert!(compare(&run, &json!({"kept": 3})).is_err());
    }

    #[test]
    fn the_published_figures_are_read() {
        let runs = agent().unwrap();
        let total: usize = runs.iter().map(|r| r.figures.len()).sum();
        assert!(runs.len() >= 4 && total >= 272, "{total}");
    }
}
