# shellcheck shell=bash
# Judges the counts of parts/counted on four nodes of two workers.
#
# An update of a row with k entries reads each of its k coordinates for the margin, then reads and writes each to add to
# it: 3k accesses of the parameters, which are relaxed loads and stores of 8 bytes that no compiler joins. All else (the
# row's columns and values, twice; label, state, stack) is the worker's own. One worker alone makes T accesses in the same
# updates; so with Z entries in the data and E epochs, 3ZE of T are of parameters. With one master on node 0 and the rows
# dealt evenly, the workers of the three other nodes make 3/4 of those, all remote:
#
#     remote share = (3/4) · 3ZE / T
#
# With a replica a node nothing is remote but what cannot be placed: constants of the program itself, in pages of its file.

# Hundredths of a per cent of `$1` in `$2`.
share() { echo $((10000 * $1 / $2)); }
percent() { printf '%d.%02d %%' $(($1 / 100)) $(($1 % 100)); }

# Prints `passed` and `FAILED` lines as parts/checks does. `$1`: what the guest said; `$2`: the plugin's reports;
# `$3`: entries visited in a run.
judge_remote() {
  local said=$1 reports=$2 visited=$3 number=0 name total remote unknown node
  local -A total_of=() share_of=()
  while read -r name; do
    read -r total remote unknown < <(
      sed -n "s/^numacount $number: total \([0-9]*\) remote \([0-9]*\) unknown \([0-9]*\)$/\1 \2 \3/p" "$reports"
    ) || true
    if [[ -z ${total:-} || $total == 0 || $unknown != 0 ]]; then
      echo "FAILED count of $name: ${total:-no report}, ${unknown:-?} accesses of unknown memory"
      return
    fi
    total_of[$name]=$total share_of[$name]=$(share "$remote" "$total")
    number=$((number + 1)) total=''
  done < <(sed -n 's/^counted //p' "$said")
  ((number == 34)) || { echo "FAILED count: $number runs of 34"; cat "$said" "$reports"; return; }

  # The plugin must know every node's memory, or it would see no remote access where there are some.
  for node in 0 1 2 3; do
    expect_below "one worker alone on node $node" 200 "${share_of[alone-on-$node]}"
  done
  local master=$((75 * 100 * 3 * visited / total_of[alone-on-0]))
  expect_near "a master on node 0" "$master" "${share_of[master-1]}" "${share_of[master-2]}"
  expect_below "hogwild, a replica a node" 100 "${share_of[replicas-1]}" "${share_of[replicas-2]}"
  expect_below "dual, a replica a node" 100 "${share_of[dual-replicas-1]}" "${share_of[dual-replicas-2]}"
  for name in hogwild-{allreduce,sgp,osgp,adpsgd,ring} {minibatch,proxasaga,svrg,dense-svrg,piag}-average proxasaga-{sgp,ring}; do
    expect_below "$name, a replica a node" 100 "${share_of[$name-1]}" "${share_of[$name-2]}"
  done
}

# One of the measurements is below `$2`.
expect_below() {
  local name=$1 limit=$2 seen
  for seen in "${@:3}"; do
    ((seen >= limit)) || { echo "passed remote share of $name: $(percent "$seen"), below $(percent "$limit")"; return; }
  done
  echo "FAILED remote share of $name: $(percent "$seen"), must be below $(percent "$limit")"
}

# One of the measurements is within two points of `$2`.
expect_near() {
  local name=$1 predicted=$2 seen apart
  for seen in "${@:3}"; do
    apart=$((seen - predicted))
    ((${apart#-} > 200)) ||
      { echo "passed remote share of $name: $(percent "$seen"), predicted $(percent "$predicted")"; return; }
  done
  echo "FAILED remote share of $name: $(percent "$seen"), predicted $(percent "$predicted") within two points"
}
