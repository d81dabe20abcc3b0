//! `farrow data generate`.

use farrow::{
    data::{
        export::{self, Form},
        generate::{DenseSpec, FactorSpec, Intercept, Rule, SparseSpec, Task, Values},
    },
    error::{Error, Result},
    output,
};
use std::path::PathBuf;

/// A flag that is not given keeps the value of the preset, or the one named here.
#[derive(clap::Args)]
#[command(after_help = "\
Example: a set like RCV1, a least-squares problem of condition number 1000, and a matrix to complete
  farrow data generate --preset rcv1-like --out rcv1like.farrow --truth truth.txt
  farrow data generate --dense --rows 5000 --columns 50 --condition 1000 --task regression --out dense.csv
  farrow data generate --rank 5 --rows 2000 --columns 500 --nonzeros-per-row 50 --out ratings.svm")]
pub(super) struct Args {
    /// File to write: .farrow (mapped binary), .svm .libsvm .svmlight .txt (LIBSVM text), .csv or .npy (dense)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Start from a known shape of data; other flags change it
    #[arg(long, value_enum)]
    preset: Option<Preset>,
    /// Dense rows instead of sparse ones
    #[arg(long, conflicts_with_all = ["preset", "nonzeros_per_row", "spread", "power", "shift", "conflict",
        "hot_columns", "values", "unit_rows"])]
    dense: bool,
    /// Make entries of a matrix of rank K, with --noise, instead of rows with labels
    #[arg(long, value_name = "K", conflicts_with_all = ["dense", "condition", "values", "unit_rows", "task", "intercept",
        "support"])]
    rank: Option<usize>,
    /// Number of rows [10000]
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Number of columns [1000; dense: 100]
    #[arg(long, value_name = "D")]
    columns: Option<usize>,
    /// Mean number of entries of a sparse row [20]
    #[arg(long, value_name = "K")]
    nonzeros_per_row: Option<f64>,
    /// How unequal rows are: the standard deviation of the logarithm of a row's number of entries [0]
    #[arg(long, value_name = "SIGMA")]
    spread: Option<f64>,
    /// Popularity of columns: the k-th is drawn in proportion to 1/(k + SHIFT)^EXP [0]
    #[arg(long, value_name = "EXP")]
    power: Option<f64>,
    /// SHIFT of --power [1]
    #[arg(long, value_name = "SHIFT")]
    shift: Option<f64>,
    /// Probability that two random rows share a column, brought about by hot columns [as the popularity gives it]
    #[arg(long, value_name = "C")]
    conflict: Option<f64>,
    /// Number of hot columns that bring --conflict about [1]
    #[arg(long, value_name = "H", requires = "conflict")]
    hot_columns: Option<usize>,
    /// Condition number of AᵀA/n; sparse: of its diagonal, a lower bound of the matrix's
    #[arg(long, value_name = "KAPPA")]
    condition: Option<f64>,
    /// What sparse entries hold [normal]
    #[arg(long, value_enum)]
    values: Option<ValuesName>,
    /// Scale each sparse row to norm 1
    #[arg(long)]
    unit_rows: bool,
    /// What labels are [classification]
    #[arg(long, value_enum)]
    task: Option<TaskName>,
    /// Noise of the labels in standard deviations of the margins: logistic for classification, normal for regression; with
    /// --rank of the entries, normal [0.1]
    #[arg(long, value_name = "S")]
    noise: Option<f64>,
    /// Intercept of the rule behind the labels: a number in standard deviations of the margins, or `balance` for as many
    /// rows above zero as below [0]
    #[arg(long, value_name = "C|balance", allow_hyphen_values = true)]
    intercept: Option<String>,
    /// Fraction of the columns that the labels depend on [1]
    #[arg(long, value_name = "FRACTION")]
    support: Option<f64>,
    /// Seed; the same seed gives the same file on every machine
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write x* here, one coefficient a line, and the intercept last; with --rank uᵢ of each row, then vⱼ of each column
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Preset {
    /// 200,000 × 47,236, about 75 entries a row, power-law columns, tf-idf values, unit rows
    Rcv1Like,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum TaskName {
    /// −1 and 1
    Classification,
    /// Real numbers
    Regression,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ValuesName {
    /// Standard normal numbers
    Normal,
    /// 1
    Ones,
    /// Term frequency times inverse document frequency
    TfIdf,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let form = Form::of(&args.out)?;
    for file in [Some(&args.out), args.truth.as_ref()].into_iter().flatten() {
        output::check_writable(file)?;
    }
    let generated = match (args.rank, args.dense) {
        (Some(rank), _) => FactorSpec { places: sparse(args)?, rank }.generate(super::threads()),
        (None, true) => dense(args)?.generate(super::threads()),
        (None, false) => sparse(args)?.generate(super::threads()),
    }?;
    let (truth, intercept) = (generated.truth.clone(), generated.intercept);
    let width = truth.len();
    let data = generated.into_data();
    let shape = data.source.shape();
    let bar = super::bar("writing", shape.rows);
    let labels = data.source.labels()?;
    let mut progress = |rows: usize| bar.set_position(rows as u64);
    let mut written = export::write(&args.out, form, data.source.as_ref(), &labels, None, &mut progress)?;
    bar.finish_and_clear();
    if let Some(file) = &args.truth {
        let (last, values) = match args.rank {
            Some(_) => ("of U, then of V", truth),
            None => ("then the intercept", [truth, vec![intercept]].concat()),
        };
        let comment = format!("x* of {}: {width} coefficients, {last}", args.out.display());
        export::write_vector(file, &comment, &values)?;
        written.push(file.clone());
    }
    let names: Vec<String> = written.iter().map(|file| file.display().to_string()).collect();
    let (rows, columns, nonzeros) = (shape.rows, shape.columns, shape.nonzeros);
    super::print(&format!("{rows} rows, {columns} columns, {nonzeros} entries: {}\n", names.join(", ")))
}

fn rule(args: &Args, from: Rule) -> Result<Rule> {
    let task = args.task.map(|task| match task {
        TaskName::Classification => Task::Classification,
        TaskName::Regression => Task::Regression,
    });
    let intercept = match args.intercept.as_deref() {
        None => from.intercept,
        Some("balance") => Intercept::Balanced,
        Some(number) => Intercept::Fixed(number.parse().map_err(|_| Error::Setting {
            origin: "--intercept".into(),
            what: format!("`{number}` is neither a number nor `balance`"),
            remedy: "give a number in standard deviations of the margins, or `balance`".into(),
        })?),
    };
    Ok(Rule {
        task: task.unwrap_or(from.task),
        noise: args.noise.unwrap_or(from.noise),
        intercept,
        support: args.support.unwrap_or(from.support),
    })
}

fn sparse(args: &Args) -> Result<SparseSpec> {
    let from = match args.preset {
        Some(Preset::Rcv1Like) => SparseSpec::rcv1_like(args.seed),
        None => SparseSpec { seed: args.seed, ..SparseSpec::default() },
    };
    let values = args.values.map(|values| match values {
        ValuesName::Normal => Values::Normal,
        ValuesName::Ones => Values::Ones,
        ValuesName::TfIdf => Values::TfIdf,
    });
    Ok(SparseSpec {
        rows: args.rows.unwrap_or(from.rows),
        columns: args.columns.unwrap_or(from.columns),
        nonzeros_per_row: args.nonzeros_per_row.unwrap_or(from.nonzeros_per_row),
        spread: args.spread.unwrap_or(from.spread),
        power: args.power.unwrap_or(from.power),
        shift: args.shift.unwrap_or(from.shift),
        conflict: args.conflict.or(from.conflict),
        hot_columns: args.hot_columns.unwrap_or(from.hot_columns),
        condition: args.condition.or(from.condition),
        values: values.unwrap_or(from.values),
        unit_rows: args.unit_rows || from.unit_rows,
        rule: rule(args, from.rule)?,
        seed: args.seed,
    })
}

fn dense(args: &Args) -> Result<DenseSpec> {
    let from = DenseSpec::default();
    Ok(DenseSpec {
        rows: args.rows.unwrap_or(from.rows),
        columns: args.columns.unwrap_or(from.columns),
        condition: args.condition,
        rule: rule(args, from.rule)?,
        seed: args.seed,
    })
}
