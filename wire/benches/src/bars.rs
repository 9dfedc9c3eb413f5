//! Bars: what was measured, beside what it is held against, and whether that is met.
//!
//! What a ratio compares is measured in turns in the same run, and the ratio is the median over the turns, so that a
//! machine that slows down for a while decides nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

/// One thing that is measured, and what it is held against.
pub(crate) struct Row {
    pub(crate) name: String,
    /// One value a turn.
    pub(crate) values: Vec<f64>,
    unit: &'static str,
    /// Names of other rows, each with what the ratio to it has to be, if that is a goal.
    bars: Vec<(String, Option<Goal>)>,
    /// Whether the best turn counts and not the one in the middle.
    best: bool,
}

impl Row {
    /// Of something that is counted per second.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self::of("/s", name)
    }

    /// Of something in another unit.
    pub(crate) fn of(unit: &'static str, name: impl Into<String>) -> Self {
        Self { name: name.into(), values: Vec::new(), unit, bars: Vec::new(), best: false }
    }

    /// By its best turn: of several threads, how many run at once is the machine's doing.
    #[allow(dead_code, reason = "not every benchmark compares threads")]
    pub(crate) fn by_best(mut self) -> Self {
        self.best = true;
        self
    }

    /// Has to be as many times the other row.
    pub(crate) fn at_least(mut self, goal: f64, other: &str) -> Self {
        self.bars.push((other.to_owned(), Some(Goal::AtLeast(goal))));
        self
    }

    /// May be so many times the other row, and no more.
    #[allow(dead_code, reason = "not every benchmark tells times")]
    pub(crate) fn at_most(mut self, goal: f64, other: &str) -> Self {
        self.bars.push((other.to_owned(), Some(Goal::AtMost(goal))));
        self
    }

    /// Is told beside the other row.
    pub(crate) fn beside(mut self, other: &str) -> Self {
        self.bars.push((other.to_owned(), None));
        self
    }
}

/// Which side of its goal a ratio has to be on.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

static MISSED: AtomicUsize = AtomicUsize::new(0);

/// Prints one bar, and whether its goal is met.
pub(crate) fn tell(
    case: &str,
    name: &str,
    (value, unit): (f64, &str),
    (against, ratio): (&str, f64),
    goal: Option<Goal>,
) {
    let (met, sign, bound) = match goal {
        Some(Goal::AtLeast(bound)) => (ratio >= bound, ">=", bound),
        Some(Goal::AtMost(bound)) => (ratio <= bound, "<=", bound),
        None => (true, "", 0.0),
    };
    let verdict = match goal {
        Some(_) if met => format!("  {sign} {bound:.2} met"),
        Some(_) => format!("  {sign} {bound:.2} MISSED"),
        None => String::new(),
    };
    MISSED.fetch_add(usize::from(!met), Ordering::Relaxed);
    eprintln!("{case:<24} {name:<34} {value:>10.0} {unit:<5} {ratio:>7.2} x {against}{verdict}");
    let mut line = serde_json::json!({
        "bench": env!("CARGO_BIN_NAME"), "case": case, "name": name, "unit": unit, "median": value.round(),
        "against": against, "ratio": (ratio * 1000.0).round() / 1000.0,
    });
    if goal.is_some() {
        line["goal"] = serde_json::json!(format!("{sign} {bound}"));
        line["met"] = serde_json::json!(met);
    }
    println!("{line}");
}

fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// How many goals were missed so far.
pub(crate) fn missed() -> usize {
    MISSED.load(Ordering::Relaxed)
}

/// Prints each row beside those that it is held against.
pub(crate) fn report(case: &str, rows: &[Row]) {
    for row in rows {
        let rate = (if row.best { best(&row.values) } else { median(&row.values) }, row.unit);
        if row.bars.is_empty() {
            tell(case, &row.name, rate, (&row.name, 1.0), None);
        }
        for (against, goal) in &row.bars {
            let other = rows.iter().find(|other| other.name == *against).expect("a row of this name");
            let ratio = if row.best {
                best(&row.values) / best(&other.values)
            } else {
                let turns = row.values.iter().zip(&other.values).map(|(ours, theirs)| ours / theirs);
                median(&turns.collect::<Vec<_>>())
            };
            tell(case, &row.name, rate, (against, ratio), *goal);
        }
    }
}
