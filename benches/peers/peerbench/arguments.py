"""The command line."""
import argparse
from pathlib import Path

PROBLEMS = ("logistic", "hinge", "ridge", "logistic-elastic-net", "squared-elastic-net")
GENERATED = ("rcv1-like", "dense", "wide")
QUICK = {"rounds": 3, "budget": 4.0, "rows": 5000, "threads": [1], "load_rounds": 3, "reference_seconds": 20.0,
         "window": 0.05, "data": [["rcv1-like"]], "problems": ["logistic"],
         "peers": ["liblinear-s0", "sklearn-lbfgs", "snapml-dual"]}
FULL = {"rounds": 5, "budget": 30.0, "rows": 200_000, "threads": [1, 2], "load_rounds": 5, "reference_seconds": 300.0,
        "window": 0.25, "data": [[name] for name in GENERATED], "problems": list(PROBLEMS), "peers": None}


def positive(kind):
    """A parser of numbers above zero."""
    def read(text):
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value
    return read


def names(accepted):
    """A parser of a list with commas between, each of `accepted`."""
    def read(text):
        given = [word for word in text.split(",") if word]
        for word in given:
            if word not in accepted:
                raise argparse.ArgumentTypeError(f"{word!r} is not one of {', '.join(accepted)}")
        return given
    return read


def counts(text):
    """A list of thread counts with commas between."""
    return [positive(int)(word) for word in text.split(",")]


class Data(argparse.Action):
    """Collects --data, and gives each --test to the --data before it."""

    def __call__(self, parser, namespace, value, option_string=None):
        entries = namespace.data or []
        if option_string == "--data":
            if value not in GENERATED and not Path(value).is_file():
                parser.error(f"--data {value}: no such file, and not one of {', '.join(GENERATED)}")
            entries = entries + [[value]]
        else:
            if not entries or len(entries[-1]) == 2:
                parser.error(f"--test {value} must follow the --data that it belongs to")
            if not Path(value).is_file():
                parser.error(f"--test {value}: no such file")
            entries = entries[:-1] + [entries[-1] + [value]]
        namespace.data = entries


def parser():
    """The parser of all flags."""
    p = argparse.ArgumentParser(prog="benches/peers/run", description="Times farrow against its peers.",
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--quick", action="store_true", help="a small generated set, few peers, one problem: does it work at all")
    p.add_argument("--data", action=Data, metavar="NAME|FILE", help=f"a generated set ({', '.join(GENERATED)}) or a LIBSVM file, "
                   "plain, .xz, .gz or .bz2; may be repeated")
    p.add_argument("--test", action=Data, dest="data", metavar="FILE", help="test set of the --data before it")
    p.add_argument("--problems", type=names(PROBLEMS), help=f"comma between: {', '.join(PROBLEMS)}")
    p.add_argument("--peers", type=lambda text: text.split(","), help="names or beginnings of names of solvers, comma between "
                   "(`sklearn` is all of sklearn's); --list shows them")
    p.add_argument("--threads", type=counts, help="thread counts, comma between")
    p.add_argument("--rounds", type=positive(int), help="timed rounds of farrow and every peer in turn, at least")
    p.add_argument("--load-rounds", type=positive(int), help="the same with the load included")
    p.add_argument("--load-peers", type=int, default=3, help="peers timed with the load: so many of the fastest; 0 for none")
    p.add_argument("--budget", type=positive(float), help="seconds to search the work that a peer needs, a peer and problem")
    p.add_argument("--slow-factor", type=positive(float), default=10.0, help="a peer so many times slower than the fastest in the "
                   "search is shown with that one time and left out of the rounds")
    p.add_argument("--window", type=positive(float), help="repeat a short fit for so many seconds and take its median")
    p.add_argument("--busy", type=positive(float), default=0.1, help="cores of foreign work on the cpus of a run that make it dirty")
    p.add_argument("--busy-elsewhere", type=positive(float), default=0.5, help="the same on the other cpus")
    p.add_argument("--reference-seconds", type=positive(float), help="seconds at most for a reference optimum")
    p.add_argument("--rows", type=positive(int), help="rows of rcv1-like; dense has half of them, wide a hundredth")
    p.add_argument("--columns", type=positive(int), default=47_236, help="columns of rcv1-like")
    p.add_argument("--nonzeros-per-row", type=positive(int), default=75, help="mean entries a row of rcv1-like")
    p.add_argument("--l1-fraction", type=positive(float), default=0.05, help="lambda1 of the elastic nets, as a fraction of the "
                   "smallest that makes all coefficients 0")
    p.add_argument("--farrow", help="the farrow binary; built with cargo if not given")
    p.add_argument("--farrow-args", default="", help="more arguments for every `farrow solve`, in one string")
    p.add_argument("--work", default=str(Path(__file__).resolve().parents[3] / "target" / "peers"), help="folder of the environment, "
                   "the data, the reference optima and the results")
    p.add_argument("--out", help="folder of results.md, results.csv and the plots (default: WORK/results)")
    p.add_argument("--resume", action="store_true", help="keep what OUT/results.jsonl holds and measure the rest")
    p.add_argument("--report-only", action="store_true", help="write the tables and plots of OUT/results.jsonl again")
    p.add_argument("--reinstall", action="store_true", help="make the environment anew")
    p.add_argument("--list", action="store_true", help="list the solvers, their settings and why some are absent; measure nothing")
    return p


def parse(arguments):
    """Parses, and fills in what --quick or a full run means where a flag was not given."""
    options = parser().parse_args(arguments)
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options
