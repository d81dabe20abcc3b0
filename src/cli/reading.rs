//! How data files are read: the flags that every command with a data file shares.

use clap::ValueEnum;
use farrow::data::{Duplicates, Format, IndexBase, LabelColumn, ReadOptions};
use std::path::PathBuf;

/// Flags that a command flattens into its own.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Reading data")]
pub(super) struct ReadingArgs {
    /// Form of the data file; told by its content, name and first line if not given (.gz, .bz2, .xz and .zst by content)
    #[arg(long, value_enum)]
    format: Option<FormatName>,
    /// Number that LIBSVM text gives the first column; 0 if an index 0 occurs, else 1, if not given
    #[arg(long, value_parser = index_base, value_name = "0|1")]
    index_base: Option<IndexBase>,
    /// Label column of CSV: its name in the header, its number from 0 (-1 is the last), or `none`; the first column
    /// if not given, or none with --labels
    #[arg(long, allow_hyphen_values = true, value_parser = label_column, value_name = "NAME|K|none")]
    label_column: Option<LabelColumn>,
    /// The first line of CSV names the columns
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first line of CSV is a row
    #[arg(long)]
    no_header: bool,
    /// Labels, one a row, as text or .npy; needed with Matrix Market and .npy
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Weights > 0, one a row, as text or .npy
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// What an index that stands twice in a row means
    #[arg(long, value_enum, default_value = "error")]
    duplicates: DuplicatesName,
    /// Sort rows of LIBSVM text whose indices do not ascend, instead of refusing them
    #[arg(long)]
    sort: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatName {
    /// LIBSVM or SVMlight text
    Libsvm,
    /// Values separated by commas, semicolons or tabs
    Csv,
    /// Matrix Market, coordinate or array
    MatrixMarket,
    /// NumPy's .npy
    Npy,
    /// The mapped binary form that `farrow data convert` writes
    Mapped,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DuplicatesName {
    /// An error
    Error,
    /// Their values are added
    Sum,
    /// The last one counts
    Last,
}

fn index_base(text: &str) -> Result<IndexBase, String> {
    match text {
        "0" => Ok(IndexBase::Zero),
        "1" => Ok(IndexBase::One),
        _ => Err("it is 0 or 1".into()),
    }
}

fn label_column(text: &str) -> Result<LabelColumn, String> {
    Ok(match (text, text.parse()) {
        ("", _) => return Err("give a name, a number from 0 (-1 is the last), or none".into()),
        ("none", _) => LabelColumn::None,
        (_, Ok(number)) => LabelColumn::Number(number),
        (name, Err(_)) => LabelColumn::Name(name.to_string()),
    })
}

impl ReadingArgs {
    /// The same, as the library takes it.
    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.map(|format| match format {
                FormatName::Libsvm => Format::Libsvm,
                FormatName::Csv => Format::Csv,
                FormatName::MatrixMarket => Format::MatrixMarket,
                FormatName::Npy => Format::Npy,
                FormatName::Mapped => Format::Mapped,
            }),
            index_base: self.index_base,
            label_column: self.label_column.clone(),
            header: (self.header || self.no_header).then_some(self.header),
            labels: self.labels.clone(),
            weights: self.weights.clone(),
            duplicates: match self.duplicates {
                DuplicatesName::Error => Duplicates::Error,
                DuplicatesName::Sum => Duplicates::Sum,
                DuplicatesName::Last => Duplicates::Last,
            },
            sort: self.sort,
            ..ReadOptions::default()
        }
    }
}
