//! farrow fits large models on one big machine with many sockets, without locks, and is built so that what it says can be
//! checked: every run ends with a certificate, every figure says how it was got, and a run can be replayed to the bit.
//!
//! ```
//! use farrow::{config::Setup, data, placement::plan, solve::{Start, solve}, topology::Topology, trace::Silent};
//! # fn main() -> farrow::error::Result<()> {
//! let rows = [vec![(0, 1.0), (2, 0.5)], vec![(1, -1.0)], vec![(0, 0.5), (1, 1.0)], vec![(2, -2.0)]];
//! let data = data::from_rows(&rows, &[1.0, -1.0, 1.0, -1.0], 3)?;   // or data::read(path, &options, threads)
//! let setup = Setup::default();                                     // logistic, λ₂ = 1/n, stops at a gap of 1e-4
//! let plan = plan(&Topology::of_host()?, &setup)?;                  // who runs where
//! let fitted = solve(data, &setup, &plan, Start::default(), &mut Silent)?;
//! assert!(fitted.gap_relative.unwrap() <= 1e-4);
//! # Ok(())
//! # }
//! ```
//!
//! # The map
//!
//! Data flows one way, and each noun is an inert value that can be printed, saved, and built by hand in a test:
//!
//! > [`Settings`](config::Settings) → [`Topology`](topology::Topology) → [`Plan`](placement::Plan) →
//! > [`Shards`](shard::Shards) → workers → [`Sample`](trace::Sample)s → report
//!
//! Read in this order: [`config`] (what can be asked), [`topology`] and [`placement`] (where things go), [`data`] and
//! [`shard`] (rows on their workers, coordinates in their slots: [`layout`]), [`objective`], [`loss`] and [`prox`] (what is minimised), [`sync`] and [`store`]
//! (how two writes meet), [`method`] (one file a paper), [`step`], [`order`], [`exchange`], then [`run`] (one worker loop,
//! two runners) and [`solve`] (where settings become types). [`os`] is the kernel interface; [`trace`], [`report`],
//! [`model`], [`checkpoint`] are what a run leaves behind. [`contention`] asks what sharing cost a run ([`contention::run`]) and
//! what it costs on a machine ([`contention::machine`]), whose answers are a [`machine::PriceList`]. [`gpu`] has gradients of batches
//! of rows by devices: kernels in `gpu/*.wgsl`, each with a twin on the cpu that is always compiled; a worker
//! that feeds one is [`run::feeding`].
//!
//! # The axes
//!
//! | trait | its question | to add one |
//! |---|---|---|
//! | [`objective::Linear`] with [`loss::Loss`] | what is the gradient of a term, given reads? | a file in `loss/`, two lines in `loss.rs` |
//! | [`store::Replica`], [`store::View`], [`sync::Merge`] | where do parameters live, and how do two writes meet? | a file in `store/`, a line in `solve.rs` |
//! | [`method::Method`] | what does one update read, and what does it then write? | a file in `method/`, two lines in `method.rs` |
//! | [`method::batch::Batch`] | which pass over all rows comes next, given what the last one found? | likewise |
//! | [`exchange::Exchange`] | how are replicas drawn together? | a file in `exchange/`, two lines in `exchange.rs` |
//! | [`exchange::Graph`] | who sends to whom? | a file in `exchange/graph/`, two lines in `exchange/graph.rs`; its name in [`config`] |
//! | [`step::Step`], [`step::Adaptive`] | how long is this step, given the delays measured so far? | a file in `step/`, two lines in `step.rs`; its name and keys in [`config`] |
//! | [`trace::Observer`] | what happened? | a type that implements it |
//!
//! A term is a loss of a margin z, and a line says how z changes with x, ∂z/∂x ([`data::matrix::Row`]). Of a linear model that is
//! a row of the data. Of a bilinear one (`problem.rank`: matrix completion, z = uᵢᵀvⱼ, two blocks of parameters) it is the other
//! block, which moves: a store reads it there. A method that remembers multiples of lines says that it needs fixed ones
//! ([`method::Facts`]), and no other axis asks.
//!
//! An update is a read, then a write ([`method::Method::read`], [`method::Method::write`]). So *delay* has one definition:
//! the number of updates written between one update's read and its write. Real threads ([`run::threads`]) call the two
//! back to back; the interleaved runner ([`run::interleaved`]) puts the other workers' halves between them, in an order
//! drawn from the seed; and [`config::Injection`] puts a worker's own between them, under both.
//!
//! A GPU is one more worker ([`run::feeding`]): the worker that feeds it takes a snapshot of its replica, has the gradient of a batch
//! worked out at it ([`gpu`]) while the others go on, and writes it late.
//!
//! A delay is measured where a step needs it, where delays are injected, where steps are logged and where a GPU takes part: an update notes before its
//! first read how many updates of its replica have landed, and takes its number k at its write; the difference is its delay
//! (of a method with a table of gradients, the longest of the table: [`method::Measure`]). A run that is billed
//! ([`solve::Watching`]) samples them instead where updates are single lines on threads: one update in 128 for each worker of the
//! replica looks at how far the others are before and after. Nothing is measured, and nothing paid for it, in other runs.
//!
//! # What sharing costs
//!
//! A bill ([`contention::run`]) is made of the run itself; of an audited run, whose views note each read and write
//! ([`store::audit`]): who wrote a line before, whether a value changed between an update's read and its write, and what each write
//! was to add, so that what is gone is known; and of trials, which time four runs in turns, as asked and with a replica a worker,
//! each with all workers and with one, and a fifth that is looked at as the run itself is. What the four differ by is what the
//! merge, shared memory and shared lines cost; counts explain it and are never turned into seconds.
//!
//! # Invariants
//!
//! `tests/it/tidy.rs` checks those that a test can.
//! 1. Nothing on the left of the flow imports from its right, but that [`config`] reads what methods and exchanges say of
//!    themselves ([`method::facts`], [`exchange::Kind`]).
//! 2. No module reads the environment, the clock or `/sys` except `main`/`cli`, [`os`] and [`topology`]. (`solve` and
//!    `run` hold stopwatches of [`os::clock`].)
//! 3. What is compiled for each method and store is the update and its seat, [`run::engine`]; the rest of a run is compiled
//!    once for each form of data. Below [`solve`] nothing matches on how methods, stores and runners were chosen; above it nothing is generic over an
//!    axis.
//! 4. Nobody but a store's view writes a parameter; an exchange asks the store to. Nobody but [`sync`] names an atomic.
//!    `unsafe` stands below [`os`] and in `kernel.rs` files, whose head gives the reason and whose plain twin a test
//!    compares.
//! 5. A plan is complete: plan, seed and data determine an interleaved run to the bit on one host, as long as it stops on
//!    counts and not on the clock.
//! 6. Between the start line and the stop a worker allocates nothing an update, logs nothing, and branches on settings at
//!    most once an update. It waits where its method says so, at a gate between phases or for the stripes of a locked
//!    or the lock of a consistent merge, for the lock under which updates are numbered where delays are measured, and every
//!    wait is counted ([`run::Waits`]).
//! 7. Every figure that reaches a person says how it was got: [`Label::Measured`](placement::Label) or
//!    [`Label::Virtual`](placement::Label).
//!
//! # Where this departs from the literature, and why
//!
//! * The regulariser of `hogwild` is applied in sweeps, sixteen or fewer an epoch, not lazily by time stamp: a stamp is
//!   one more random access an entry ([`method::hogwild`]).
//! * A delay counts updates that have their number and are still being written as not seen: it errs on the safe side, by at
//!   most the number of workers.
//! * A resumed run begins with an empty window of past steps: all that was read before has been written.
//! * The store of `dual` and `bcd` can be rebuilt from their state. Lossy merges of several workers are repaired so
//!   before anything is certified, so that PASSCoDe-Wild converges to the problem's own solution, not to a perturbed one.
//! * `proxasaga` and `svrg` on replicas draw the averages of their tables together as they do the parameters, each replica's own
//!   changes counting K times: gradient tracking ([`method::Companion`]).
//! * Rows are visited in shuffled buckets where they come from memory, and singly where they fit a cache: on the RCV1-like
//!   set a pass over single rows costs 3.7 times one over buckets of 32, while on a9a, which is cached, buckets cost dual
//!   ascent 3.4 times the epochs.
//! * Replicas of `dual` and `bcd` are summed with CoCoA+'s σ′, which is not the bound K, the number of replicas, but what
//!   their last changes δₖ would have needed, ‖Σ δₖ‖²/Σ ‖δₖ‖², and a quarter more. Workers that share a replica start at
//!   σ′ = 1. Where the objective that must ascend does not, the least σ′ doubles.
//! * A step of dual ascent on the logistic loss is one of Halley's from the old α where that is near, not the exact maximum: it
//!   gains all but half a per cent, and does not make the write wait for an exponential ([`loss`]).
//! * `newton` is L-BFGS around a Cholesky factor of the curvature of rows drawn by weight; where the penalty is not smooth it is
//!   a proximal Newton step with the same curvature ([`method::newton`]).
//! * `newton` takes the hinge loss by SSNAL, whose inner steps are ended by the two parts of the duality gap, which both come
//!   for free, and not by sequences of tolerances given beforehand.
//! * A run with a target evaluates when the target may be met, not after every epoch: an evaluation goes over the data
//!   once more.
//! * Replicas that gossip hold z = x/w of push-sum, and a window's change of z counts as that change of the numerator x
//!   ([`exchange`]). AD-PSGD's pairs average by question and answer, so that each replica is written by its own workers alone.
//!   HogWild++ takes the paper's Δ, not its code's, which multiplies it by the step. Push-sum's guard lets a replica send
//!   without having received while its weight is high, or a single message would be left in the end.
//! * A GPU's batch of B rows may go min(B/b, L_b/L_B) times as far as a cpu's update of b ([`run::feeding`]). Where updates differ so,
//!   sweeps of the regulariser go by Σγ of all of them.
//! * With `data.memory = "replicate"` an epoch is still n visits, of all nodes together, each of which goes on where it was
//!   in an order of its own; DimmWitted's epoch has every node visit all rows.
//! * `parameters.layout` renumbers columns when rows are copied; the update loop knows nothing of it ([`layout`]).
//! * Memory is bound to nodes strictly, so that page caches give way and balancing leaves it alone; what does not fit is
//!   refused beforehand, since a strict binding that meets a full node ends the process ([`os::memory`],
//!   [`placement::costs`]). Thread stacks only prefer their node.
//! * Data values are kept as f32, sums and parameters as f64: 8 bytes an entry.
//!
//! # How near the machine's bounds it comes
//!
//! `benches/epoch.rs` prints these for the machine it runs on. On a shared virtual machine of two cpus (EPYC, Zen 4), RCV1-like
//! rows, million entries a second; each figure varied by a tenth to a third between runs, so read the ratios:
//!
//! | | one worker | two workers |
//! |---|---|---|
//! | bound: streaming, gather, gather and scatter | 1300 to 1700, 800 to 940, 490 to 760 | |
//! | bound: arithmetic, rows in the first cache | 680 to 970 | |
//! | `hogwild`, a replica a worker | 310 to 520 | 580 to 830 |
//! | `hogwild`, one lossy vector | 370 to 490 | about 400: two cpus that write the same hot lines wait for each other |
//! | `dual`, a replica a worker | 320 to 350 | 660 to 750 |
//! | `bcd`, one vector | 50 to 80 | 100 |
//!
//! * `hogwild` is held by gather and scatter: each entry loads, adds and stores a parameter, and its rows are shuffled in
//!   buckets, which the bound's are not.
//! * `dual` waits besides for a row's own step between the read of the row and the write: a logistic step is an exponential
//!   and divisions, one after the other. The first two epochs, when steps are long, are the slowest.
//! * `bcd` reads a margin and a label of its row for each entry, and evaluates an exponential for it.
//! * Dense rows (10⁵ × 500), `hogwild` and `dual` on a replica a worker: 2 to 3.5 times what a plain sum over the rows takes
//!   with one worker, 1.3 to 2.5 with two. Each entry is converted to eight bytes, twice, and multiplied and added, twice.
//! * `newton` streams rows for gradients, and is held by its matrix: half the square of a row's entries for each sampled row.
//!
//! # Master against replicas
//!
//! What part of the memory accesses of the inner loops goes to another node, counted in an emulated guest: four nodes, two
//! workers each, 2000 rows of 100 entries dealt to their workers' nodes, squared loss (`FARROW=target/release/farrow
//! tests/vm/run 4n-ring` prints these; an unoptimised program makes more accesses of its own, so that all shares are less). QEMU
//! executes the program, and a plugin looks up where each accessed page lies; it counts, and times nothing.
//!
//! | | remote |
//! |---|---|
//! | `hogwild`, one master on node 0 | 27.4 %; by the loop's arithmetic 27.0 % |
//! | `hogwild`, a replica a node, by exchange | 0.43 % `average`, 0.46 % `allreduce`, 0.45 % `sgp`, `osgp`, `adpsgd` and `ring` |
//! | a replica a node, averaged (`dual`: summed) | 0.38 % `dual`, 0.17 % `minibatch`, 0.27 % `proxasaga`, 0.32 % `svrg`, 0.03 % `dense-svrg`, 0.25 % `piag` |
//!
//! What is left with replicas is left to a worker that is alone on a node, too, 0.03 to 0.52 %: constants of the program, in pages
//! of its file, and what a run tells all workers.
//!
//! An exchange costs time, not accesses of the inner loop. Two replicas, a worker each, of rows of 32 entries that fall anywhere:
//! a window and its exchange, by what share of the blocks of eight coordinates the window touched, measured on the shared
//! virtual machine above with two cpus and one node (`benches/exchange.rs`; a tenth or less of spread but where a range stands):
//!
//! | columns | touched | moves `all` | moves `touched` | bound of `all`: a copy |
//! |---|---|---|---|---|
//! | 10⁴ | 5 % | 40 µs | 9 µs | 5 µs |
//! | 10⁴ | 18 % | 42 µs | 25 to 41 µs | 5 µs |
//! | 10⁴ | 56 % | 38 µs | 46 µs | 5 µs |
//! | 10⁶ | 0.1 % | 5.5 ms | 0.025 ms | 1.0 ms |
//! | 10⁶ | 3 % | 5.3 ms | 0.54 ms | 1.0 ms |
//! | 10⁶ | 12 % | 5.0 ms | 2.9 ms | 1.0 ms |
//! | 10⁶ | 41 % | 6.7 ms | 8.2 ms | 1.0 ms |
//!
//! A third of an exchange of all is copying, the rest reads slot by slot and sums in one order, so that both ways end at the same
//! bits. `exchange.moves = "auto"` takes the cheaper one by prices that meet where three blocks in ten are touched.
//!
//! # One binary
//!
//! Loops that gain by it are compiled twice, for AVX2 and for any cpu, and chosen between at run time ([`vectors`]).

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod checkpoint;
pub mod config;
pub mod contention;
pub mod cpulist;
pub mod data;
pub mod error;
pub mod exchange;
pub mod gpu;
pub mod layout;
pub mod loss;
pub mod machine;
pub mod method;
mod mix;
pub mod model;
pub mod objective;
pub mod order;
pub mod os;
pub mod output;
pub mod placement;
pub mod prox;
pub mod report;
pub mod run;
pub mod shard;
pub mod solve;
pub mod step;
pub mod store;
pub mod sync;
pub mod topology;
pub mod trace;
pub mod vectors;
