//! The command `farrow`: arguments in, one library call, an exit code out.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
