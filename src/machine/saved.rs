//! A price list as a file: JSON of the value itself, checked when it is read, since a person may have edited it.

use super::{Cell, Curve, Figure, Matrix, PriceList, VERSION};
use crate::{
    error::{Error, Result},
    output,
};
use std::{fs, path::Path};

/// What every table is, whatever its key.
pub(crate) struct Shape<'a> {
    pub(crate) cells: Vec<&'a Cell>,
    reasons: &'a [String],
    whole: bool,
}

impl<'a> Shape<'a> {
    /// The reasons that a cell refers to.
    pub(crate) fn used_reasons(&self) -> impl Iterator<Item = &'a str> {
        let mut used: Vec<usize> = self
            .cells
            .iter()
            .filter_map(|cell| match cell {
                Cell::Missing(reason) => Some(*reason),
                Cell::Figure(_) => None,
            })
            .collect();
        used.sort_unstable();
        used.dedup();
        used.into_iter().filter_map(|reason| self.reasons.get(reason)).map(String::as_str)
    }
}

fn of_matrix<K>(matrix: &Matrix<K>) -> Shape<'_> {
    let whole =
        matrix.cells.len() == matrix.rows.len() && matrix.cells.iter().all(|row| row.len() == matrix.columns.len());
    Shape { cells: matrix.all().collect(), reasons: &matrix.reasons, whole }
}

fn of_curve<K>(curve: &Curve<K>) -> Shape<'_> {
    let cells = curve.points.iter().map(|point| &point.value).collect();
    let whole = curve.points.is_sorted_by(|one, other| one.at < other.at);
    Shape { cells, reasons: &curve.reasons, whole }
}

impl PriceList {
    /// The value as JSON, which [`PriceList::read`] reads from a file.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a price list is made of strings and finite numbers");
        text.push('\n');
        text
    }

    /// Writes [`PriceList::to_json`] to a file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        output::write_whole(path.as_ref(), |out| out.write_all(self.to_json().as_bytes()))
    }

    /// Reads what [`PriceList::save`] wrote.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Data`] if it is no price list of this version, or one that
    /// contradicts itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = fs::read(path).map_err(|source| Error::io("read", path, source))?;
        let bad = |what: String| {
            Error::data(path, None, what, "write it anew with farrow contention machine --save FILE")
        };
        let prices: PriceList = serde_json::from_slice(&text)
            .map_err(|error| bad(format!("it is no price list of version {VERSION}: {error}")))?;
        prices.check().map_err(bad)?;
        Ok(prices)
    }

    /// Whether every cell has a figure or a reason, every table its form, and every field a table or a reason.
    ///
    /// # Errors
    /// What is wrong, as half a sentence.
    pub fn check(&self) -> std::result::Result<(), String> {
        if self.version != VERSION {
            return Err(format!("it is of version {}, and {VERSION} is read", self.version));
        }
        let numbers = [self.seconds, self.budget_s, self.unix_time_s];
        if numbers.iter().any(|seconds| !(seconds.is_finite() && *seconds >= 0.0)) {
            return Err("one of its times is no number of seconds".into());
        }
        for figure in [self.timer.overhead_ns, self.timer.resolution_ns].iter().flatten() {
            check_figure(figure).map_err(|what| format!("timer: {what}"))?;
        }
        for (field, tables) in self.shapes() {
            if tables.is_empty() && !self.missing.iter().any(|missing| missing.what == field) {
                return Err(format!("{field} has no table and no line in missing"));
            }
            for table in tables {
                check_table(&table).map_err(|what| format!("{field}: {what}"))?;
            }
        }
        Ok(())
    }

    /// Every field of tables by its name.
    pub(crate) fn shapes(&self) -> Vec<(&'static str, Vec<Shape<'_>>)> {
        fn matrices<K>(matrices: &[Matrix<K>]) -> Vec<Shape<'_>> {
            matrices.iter().map(of_matrix).collect()
        }
        fn curves<K>(curves: &[Curve<K>]) -> Vec<Shape<'_>> {
            curves.iter().map(of_curve).collect()
        }
        vec![
            ("transfer_ns", matrices(&self.transfer_ns)),
            ("latency_by_working_set_ns", curves(&self.latency_by_working_set_ns)),
            ("latency_by_node_ns", matrices(&self.latency_by_node_ns)),
            ("bandwidth_by_node_gb_per_s", matrices(&self.bandwidth_by_node_gb_per_s)),
            ("bandwidth_by_threads_gb_per_s", curves(&self.bandwidth_by_threads_gb_per_s)),
            ("loaded_latency_ns", curves(&self.loaded_latency_ns)),
            ("loaded_bandwidth_gb_per_s", curves(&self.loaded_bandwidth_gb_per_s)),
            ("contended_line_ns", curves(&self.contended_line_ns)),
            ("false_sharing_ns", curves(&self.false_sharing_ns)),
            ("update_ns", curves(&self.update_ns)),
            ("update_lost_share", curves(&self.update_lost_share)),
            ("handover_ns", curves(&self.handover_ns)),
            ("alpha_write_ns", curves(&self.alpha_write_ns)),
            ("alpha_read_ns", curves(&self.alpha_read_ns)),
            ("alpha", curves(&self.alpha)),
        ]
    }

    /// How many figures it holds.
    pub fn figures(&self) -> usize {
        let tables = self.shapes().into_iter().flat_map(|(_, tables)| tables);
        tables.map(|table| table.cells.iter().filter(|cell| cell.figure().is_some()).count()).sum()
    }
}

fn check_table(table: &Shape<'_>) -> std::result::Result<(), String> {
    if !table.whole {
        return Err("a matrix is no rectangle of its rows and columns, or a curve does not ascend".into());
    }
    for cell in &table.cells {
        match cell {
            Cell::Missing(reason) if *reason >= table.reasons.len() => {
                return Err(format!(
                    "a cell is missing for reason {reason}, and there are {}",
                    table.reasons.len()
                ));
            }
            Cell::Figure(figure) => check_figure(figure)?,
            Cell::Missing(_) => {}
        }
    }
    Ok(())
}

fn check_figure(figure: &Figure) -> std::result::Result<(), String> {
    if figure.p10 > figure.p90 || figure.samples == 0 || figure.passes == 0 {
        return Err("a figure has no samples, or its p10 is above its p90".into());
    }
    Ok(())
}
