//! `farrow data convert`.

use crate::cli::reading::ReadingArgs;
use farrow::{
    data::{
        self,
        export::{self, Form},
    },
    error::Result,
    output,
};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Example: compressed text to the mapped form, which `farrow solve` opens in milliseconds
  farrow data convert train.svm.xz train.farrow")]
pub(super) struct Args {
    /// Data file, `-` for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write: .farrow (mapped binary), .svm .libsvm .svmlight .txt (LIBSVM text), .csv or .npy (dense)
    #[arg(value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let form = Form::of(&args.output)?;
    output::check_writable(&args.output)?;
    let data = data::read(&args.input, &args.reading.options(), super::threads())?;
    let labels = data.source.labels()?;
    let shape = data.source.shape();
    let bar = super::bar("writing", shape.rows);
    let mut progress = |rows: usize| bar.set_position(rows as u64);
    let weights = data.weights.as_deref();
    let written = export::write(&args.output, form, data.source.as_ref(), &labels, weights, &mut progress)?;
    bar.finish_and_clear();
    let names: Vec<String> = written.iter().map(|file| file.display().to_string()).collect();
    let (rows, columns, nonzeros) = (shape.rows, shape.columns, shape.nonzeros);
    super::print(&format!("{rows} rows, {columns} columns, {nonzeros} entries: {}\n", names.join(", ")))
}
