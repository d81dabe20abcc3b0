# shellcheck shell=bash
# One start of the guest.

# Seconds until a start counts as hung.
boot_limit=180
# Emulation, a thread a cpu.
accelerator=tcg,thread=multi,tb-size=256

# Runs the command in a new guest. True if it started; then `status` is its exit status.
boot() {
  run=$(mktemp -d "${TMPDIR:-/tmp}/farrow-guest.XXXXXX")
  qemu_pid='' watch_pid='' readers=() qemu_status=0
  trap stop_boot EXIT
  make_initial_files
  mkfifo "$run/out" "$run/err"
  qemu_command
  ((verbose)) && say "${qemu[*]@Q}"
  cat <"$run/out" & readers+=($!)
  cat <"$run/err" >&2 & readers+=($!)
  timeout $((timeout + 120)) "${qemu[@]}" </dev/null >"$run/qemu.log" 2>&1 & qemu_pid=$!
  watch_start >/dev/null 2>&1 & watch_pid=$!
  wait "$qemu_pid" || qemu_status=$?
  finish_readers
  report_boot
  started_or_explain
}

# Ends what is left of a start.
stop_boot() {
  kill ${qemu_pid:+"$qemu_pid"} ${watch_pid:+"$watch_pid"} 2>/dev/null || true
  rm -rf "$run"
}

is_ready() { grep -aqs 'guest: ready' "$run/console"; }

# Ends a start that hangs.
watch_start() {
  local second
  for ((second = 0; second < boot_limit; second++)); do
    sleep 1
    is_ready && return
    kill -0 "$qemu_pid" 2>/dev/null || return
  done
  kill "$qemu_pid" 2>/dev/null
}

# Without a status nobody may ever have opened the pipes for writing: then their readers are ended, not waited for.
finish_readers() {
  if [[ -s $run/status ]]; then
    wait "${readers[@]}" 2>/dev/null || true
  else
    kill "${readers[@]}" 2>/dev/null || true
  fi
}

report_boot() {
  ((verbose)) && tr -d '\r' <"$run/console" >&2
  [[ ! -s $run/count ]] || cat "$run/count" >&2
  grep -v "TCG doesn.t support" "$run/qemu.log" | sed 's/^/qemu: /' >&2 || true
}

# True with `status` set; false if another try may help.
started_or_explain() {
  if [[ -s $run/status ]]; then
    status=$(tr -dc 0-9 <"$run/status")
    stop_boot
    return 0
  fi
  if is_ready; then
    ((qemu_status == 124)) && { say "killed $((timeout + 120)) s after its start"; exit 124; }
    tail -c 3000 "$run/console" | tr -d '\r' >&2
    broke "the guest ended without an exit status (QEMU status $qemu_status)"
  fi
  tail -c 600 "$run/console" 2>/dev/null | tr -d '\r' | sed 's/^/guest: | /' >&2
  ((qemu_status != 1)) || broke "QEMU refused to start"
  stop_boot
  return 1
}

make_initial_files() {
  mkdir -p "$run/files/guest" "$run/acpi/kernel/firmware/acpi"
  guest_command >"$run/files/guest/command"
  guest_init >"$run/files/guest/init"
  chmod +x "$run/files/guest/init"
  {
    # Linux looks for tables in the first archive only.
    if [[ -n $cpu_order ]]; then
      madt >"$run/acpi/kernel/firmware/acpi/madt.aml"
      (cd "$run/acpi" && find kernel | cpio --quiet -o -H newc)
    fi
    cat "$kernel/base.cpio"
    (cd "$run/files" && find guest | cpio --quiet -o -H newc)
  } >"$run/initrd"
}

# The command, in its folder, with what of the environment matters.
guest_command() {
  local name
  printf 'export NUMA_VM=1 NUMA_VM_SHAPE=%q PATH=%q HOME=%q\n' "$(realpath "$shape")" "$PATH" "$HOME"
  for name in CI LANG RUST_BACKTRACE RUST_TEST_THREADS; do
    [[ -z ${!name+set} ]] || printf 'export %s=%q\n' "$name" "${!name}"
  done
  printf 'cd %q\nexec' "$PWD"
  printf ' %q' "${command[@]}"
  echo
}

# What the guest does once its root is there. Output, error output and status leave by a port each.
guest_init() {
  cat <<INIT
#!/run/guest/busybox sh
b=/run/guest/busybox
\$b mkdir -p /dev/shm /dev/pts
\$b mount -t tmpfs -o mode=1777 tmpfs /dev/shm; \$b mount -t devpts devpts /dev/pts
\$b ln -sf /proc/self/fd /dev/fd; \$b ln -sf /proc/self/fd/1 /dev/stdout; \$b ln -sf /proc/self/fd/2 /dev/stderr
\$b umount /sys/fs/cgroup 2>/dev/null; \$b mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo +cpuset +memory +cpu >/sys/fs/cgroup/cgroup.subtree_control
\$b ip link set lo up; \$b hostname guest
$(mount_shares)
port() { for p in /sys/class/virtio-ports/*; do [ "\$(\$b cat \$p/name)" = "\$1" ] && echo /dev/\${p##*/}; done; }
exec 3>\$(port out) 4>\$(port err) 2>&4
$before
echo 'guest: ready' >/dev/ttyS0
\$b timeout $timeout /bin/bash /run/guest/command </dev/null >&3 2>&4
status=\$?
# busybox's timeout passes on what its SIGTERM did.
[ \$status = 143 ] && status=124
echo \$status >\$(port status)
\$b sync; \$b poweroff -f
INIT
}

mount_shares() {
  local index folder
  for index in "${!shares[@]}"; do
    folder=$(printf %q "${shares[index]}")
    echo "\$b mkdir -p $folder"
    echo "\$b mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none share$index $folder"
  done
}

# A guest measures its TSC at the start and gets it wrong when this machine is busy, so that its clock runs at up to twice
# the speed: it is told (QEMU passes this machine's TSC through), or else takes the slow clock that is right.
clock_arguments() {
  if grep -qw tsc_known_freq /proc/cpuinfo; then
    echo "tsc_early_khz=$(sed -n 's/^cpu MHz[^0-9]*\([0-9]*\)\.\([0-9]*\).*/\1\2/p' /proc/cpuinfo | head -1) tsc=reliable"
  else
    echo clocksource=acpi_pm
  fi
}

# no_timer_check: with this machine busy, the timer's test fails now and then ("IO-APIC + timer doesn't work").
qemu_command() {
  local append index
  append="console=ttyS0 $( ((verbose)) || echo quiet) panic=-1 no_timer_check nosoftlockup"
  append+=" rcupdate.rcu_cpu_stall_suppress=1 $(clock_arguments) mitigations=off nopti$kernel_arguments"
  qemu=(qemu-system-x86_64 -accel "$accelerator" "${machine[@]}"
    -nodefaults -no-user-config -display none -no-reboot
    -kernel "$kernel/vmlinux" -initrd "$run/initrd" -append "$append"
    -serial "file:$run/console" -device virtio-serial-pci)
  for index in out err status; do
    qemu+=(-chardev "file,id=$index,path=$run/$index" -device "virtserialport,chardev=$index,name=$index")
  done
  qemu+=(-fsdev "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"
    -device virtio-9p-pci,fsdev=root,mount_tag=root)
  for index in "${!shares[@]}"; do
    qemu+=(-fsdev "local,id=share$index,path=${shares[index]},security_model=none,multidevs=remap"
      -device "virtio-9p-pci,fsdev=share$index,mount_tag=share$index")
  done
  [[ -z $plugin ]] || qemu+=(-plugin "file=$plugin,$(plugin_arguments),top=$top" -d plugin -D "$run/count")
}
