//! A kernel that refuses, as containers and old kernels do: the child process gets a filter on its system calls.

// Filters are installed by system calls without a safe wrapper, between fork and exec.
#![allow(unsafe_code)]

use std::{
    io,
    os::unix::process::CommandExt,
    process::{Command, Output, Stdio},
    sync::RwLock,
};

/// A system call that is refused, where its third argument is as given if one is, and the error it gets.
struct Rule {
    call: libc::c_long,
    third_argument: Option<u32>,
    error: libc::c_int,
}

/// What Docker refuses without `CAP_SYS_NICE`: every call about where memory lies answers EPERM.
pub fn refused(command: &mut Command) -> &mut Command {
    let calls = [libc::SYS_mbind, libc::SYS_set_mempolicy, libc::SYS_get_mempolicy, libc::SYS_move_pages];
    filtered(command, &calls.map(|call| Rule { call, third_argument: None, error: libc::EPERM }))
}

/// Linux before 5.14: pages cannot be populated, EINVAL.
pub fn without_populate(command: &mut Command) -> &mut Command {
    let populate = [libc::MADV_POPULATE_READ, libc::MADV_POPULATE_WRITE].map(|advice| Rule {
        call: libc::SYS_madvise,
        third_argument: Some(advice as u32),
        error: libc::EINVAL,
    });
    filtered(command, &populate)
}

/// Held for writing between fork and exec, when a filtered child shares all pages of this process and the kernel moves none
/// of them: a test that moves pages holds it for reading.
pub static FORKS: RwLock<()> = RwLock::new(());

/// The output of the command, or a line that says that `test` skips where filters cannot be had.
pub fn output(test: &str, command: &mut Command) -> Option<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = {
        let _alone = FORKS.write();
        command.spawn()
    };
    match child {
        Ok(child) => Some(child.wait_with_output().expect("the child can be waited for")),
        Err(error) => {
            eprintln!("skipped: {test}: system calls cannot be filtered here ({error})");
            None
        }
    }
}

fn filtered<'a>(command: &'a mut Command, rules: &[Rule]) -> &'a mut Command {
    let program = program(rules);
    // SAFETY: the closure runs in a child between fork and exec, where only async-signal-safe calls are allowed: it makes
    // two system calls and allocates nothing; the program was built before and is the closure's own.
    unsafe { command.pre_exec(move || install(program.as_deref())) }
}

fn install(program: Option<&[libc::sock_filter]>) -> io::Result<()> {
    let program = program.ok_or(io::ErrorKind::Unsupported)?;
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel reads the program, which lives for the call, and writes nothing.
    if unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const THIRD_ARGUMENT: u32 = 32;

/// `None` where the architecture's number is not known here.
fn program(rules: &[Rule]) -> Option<Vec<libc::sock_filter>> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => 0xC000_003E,
        "aarch64" => 0xC000_00B7,
        _ => return None,
    };
    let load = |offset| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0);
    let unless = |value, skip| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, skip);
    let answer = |value| instruction(libc::BPF_RET | libc::BPF_K, value, 0);
    let mut program = vec![load(ARCHITECTURE), unless(architecture, 1), load(NUMBER)];
    // Jumps are 8 bits long, so a foreign architecture is let through by a return of its own.
    program.insert(2, instruction(libc::BPF_JMP | libc::BPF_JA, 1, 0));
    program.insert(3, answer(libc::SECCOMP_RET_ALLOW));
    for rule in rules {
        let call = rule.call as u32;
        match rule.third_argument {
            None => program.extend([unless(call, 1)]),
            Some(value) => program.extend([unless(call, 4), load(THIRD_ARGUMENT), unless(value, 1)]),
        }
        program.push(answer(libc::SECCOMP_RET_ERRNO | rule.error as u32));
        if rule.third_argument.is_some() {
            program.push(load(NUMBER));
        }
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    Some(program)
}

/// `otherwise`: how many instructions a comparison that fails passes over.
fn instruction(code: u32, k: u32, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: otherwise, k }
}
