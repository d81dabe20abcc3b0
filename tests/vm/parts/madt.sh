# shellcheck shell=bash
# Linux numbers cpus in the order of ACPI's table of them (MADT), and QEMU lists them by position. Firmware of servers
# lists the first thread of every core before the second threads: a table in the initial file system, which Linux takes
# instead of QEMU's, does the same.

# Writes the table for `cpu-order threads-last`.
madt() {
  [[ $cpu_order == threads-last ]] || die "$shape: cpu-order takes threads-last, not $cpu_order"
  local body head table sum=0 at
  body="$(little_endian $((0xfee00000)))$(little_endian 1)$(local_apics)$(fixed_entries)"
  head="41504943$(little_endian $((36 + ${#body} / 2)))0100$(text 'BOCHS BXPC    ')$(little_endian 2)$(text BXPC)"
  table="$head$(little_endian 1)$body"
  for ((at = 0; at < ${#table}; at += 2)); do sum=$((sum + 16#${table:at:2})); done
  # The bytes of a table add up to 0; the ninth is there to make them.
  table=${table:0:18}$(printf %02x $(((256 - sum % 256) % 256)))${table:20}
  # shellcheck disable=SC2059 # the format is the bytes
  printf "$(sed 's/../\\x&/g' <<<"$table")"
}

# A processor of each position, second threads last: its APIC id is its place in fields of as many bits as each needs.
local_apics() {
  local first position apic bits_thread bits_core bits_die
  bits_thread=$(bits "${smp[threads]}") bits_core=$(bits "${smp[cores]}") bits_die=$(bits "${smp[dies]}")
  for ((first = 0; first < smp[threads]; first++)); do
    for ((position = first; position < cpus; position += smp[threads])); do
      place "$position"
      apic=$((((socket << bits_die | die) << bits_core | core) << bits_thread | thread))
      ((apic < 255)) || die "$shape: cpu-order works below APIC id 255"
      printf '0008%02x%02x%s' "$position" "$apic" "$(little_endian $((1 - ${is_absent[$position]:-0})))"
    done
  done
}

# As in QEMU's own: an I/O APIC, the timer's interrupt, level interrupts 5, 9, 10 and 11, and the NMI.
fixed_entries() {
  local irq
  printf '010c0000%s%s' "$(little_endian $((0xfec00000)))" "$(little_endian 0)"
  printf '020a0000%s0000' "$(little_endian 2)"
  for irq in 5 9 10 11; do printf '020a00%02x%s0d00' "$irq" "$(little_endian "$irq")"; done
  printf '0406ff000001'
}

little_endian() { printf '%02x%02x%02x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255)); }
text() { printf '%s' "$1" | od -An -tx1 | tr -d ' \n'; }

# Bits that tell `$1` things apart.
bits() {
  local bits=0
  while (((1 << bits) < $1)); do bits=$((bits + 1)); done
  echo "$bits"
}
