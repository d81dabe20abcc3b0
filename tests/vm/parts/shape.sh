# shellcheck shell=bash
# Reads a shape file (README.md has its statements) into QEMU's arguments and what the guest does before the command.

declare -A cpus_of=() memory_of=() initiator_of=() is_ghost=() distance=() latency=() bandwidth=() is_absent=()
declare -A smp=([sockets]=1 [dies]=1 [cores]=1 [threads]=1)
nodes=() cpu_order='' kernel_arguments='' before='' cpus=0 memory=0 machine=()

read_shape() {
  local word rest fields
  while read -r word rest; do
    read -ra fields <<<"${rest%%#*}"
    case $word in
      '' | \#*) ;;
      smp) read_smp "${fields[@]}" ;;
      node) read_node "${fields[@]}" ;;
      ghost) read_node "${fields[@]}"; is_ghost[${fields[0]}]=1 ;;
      dist) distance[${fields[0]},${fields[1]}]=${fields[2]} ;;
      lat) latency[${fields[0]},${fields[1]}]=${fields[2]} ;;
      bw) bandwidth[${fields[0]},${fields[1]}]=${fields[2]} ;;
      cpu-order) cpu_order=${fields[0]} ;;
      append) kernel_arguments+=" ${fields[*]}" ;;
      offline-cpu) read_offline "${fields[@]}" ;;
      cgroup) read_cgroup "${fields[@]}" ;;
      *) die "$1: unknown statement $word" ;;
    esac
  done <"$1"
  ((${#nodes[@]})) || die "$1: no node"
  cpus=$((smp[sockets] * smp[dies] * smp[cores] * smp[threads]))
  find_absent
  add_cpus
  add_nodes
  add_distances
  add_hmat
}

read_smp() {
  local field
  for field; do
    [[ -n ${smp[${field%%=*}]-} ]] || die "$shape: smp takes sockets= dies= cores= threads=, not $field"
    smp[${field%%=*}]=${field#*=}
  done
}

read_node() {
  local node=$1 field
  nodes+=("$node")
  cpus_of[$node]='' memory_of[$node]=0 initiator_of[$node]=''
  for field in "${@:2}"; do
    case $field in
      cpus=*) cpus_of[$node]=${field#*=} ;;
      mem=*) memory_of[$node]=$(mebibytes "${field#*=}") ;;
      initiator=*) initiator_of[$node]=${field#*=} ;;
      *) die "$shape: node $node takes cpus= mem= initiator=, not $field" ;;
    esac
  done
}

read_offline() {
  local cpu
  for cpu; do before+="echo 0 >/sys/devices/system/cpu/cpu$cpu/online"$'\n'; done
}

# The command runs in this group.
read_cgroup() {
  local field
  before+=$'mkdir /sys/fs/cgroup/guest; cd /sys/fs/cgroup/guest\n'
  for field; do
    case $field in
      cpus=* | mems=*) before+="echo ${field#*=} >cpuset.${field%%=*}"$'\n' ;;
      *) die "$shape: cgroup takes cpus= mems=, not $field" ;;
    esac
  done
  before+=$'echo $$ >cgroup.procs; cd /\n'
}

mebibytes() {
  case $1 in
    *G) echo $((${1%G} * 1024)) ;;
    *M) echo "${1%M}" ;;
    0) echo 0 ;;
    *) die "$shape: size $1: takes M or G" ;;
  esac
}

# 0-2,5 as numbers.
expand() {
  local part
  for part in ${1//,/ }; do seq "${part%-*}" "${part#*-}"; done
}

# Socket, die, core and thread of a position: socket-major, threads adjacent.
place() {
  local position=$1
  thread=$((position % smp[threads])) position=$((position / smp[threads]))
  core=$((position % smp[cores])) position=$((position / smp[cores]))
  die=$((position % smp[dies])) socket=$((position / smp[dies]))
}

find_absent() {
  local node cpu
  for node in "${!is_ghost[@]}"; do
    for cpu in $(expand "${cpus_of[$node]}"); do is_absent[$cpu]=1; done
  done
  [[ -z ${is_absent[0]-} ]] || die "$shape: cpu 0 boots the machine and must be there"
}

# AMD's vendor string, QEMU's default, hides SMT and dies from Linux.
cpu_model=max

add_cpus() {
  local layout="sockets=${smp[sockets]},dies=${smp[dies]},cores=${smp[cores]},threads=${smp[threads]}" position
  machine+=(-cpu "$cpu_model,vendor=GenuineIntel")
  if ((${#is_absent[@]} == 0)); then
    machine+=(-smp "cpus=$cpus,$layout")
    return
  fi
  machine+=(-smp "cpus=1,maxcpus=$cpus,$layout")
  for ((position = 1; position < cpus; position++)); do
    [[ -z ${is_absent[$position]-} ]] || continue
    place "$position"
    machine+=(-device "$cpu_model-x86_64-cpu,socket-id=$socket,die-id=$die,core-id=$core,thread-id=$thread")
  done
}

add_nodes() {
  local node range argument
  for node in "${nodes[@]}"; do
    argument="node,nodeid=$node"
    memory=$((memory + memory_of[$node]))
    if ((memory_of[$node])); then
      machine+=(-object "memory-backend-ram,id=memory$node,size=${memory_of[$node]}M")
      argument+=",memdev=memory$node"
    fi
    for range in ${cpus_of[$node]//,/ }; do argument+=",cpus=$range"; done
    [[ -z ${initiator_of[$node]} ]] || argument+=",initiator=${initiator_of[$node]}"
    machine+=(-numa "$argument")
  done
  machine+=(-m "${memory}M")
}

# The way back is as far as the way there, and what is not said is 20.
add_distances() {
  ((${#distance[@]})) || return 0
  local from to
  for from in "${nodes[@]}"; do
    for to in "${nodes[@]}"; do
      ((from == to)) ||
        machine+=(-numa "dist,src=$from,dst=$to,val=${distance[$from,$to]:-${distance[$to,$from]:-20}}")
    done
  done
}

add_hmat() {
  local pair kind='hierarchy=memory,data-type=access'
  machine+=(-machine "q35,hmat=$( ((${#latency[@]})) && echo on || echo off)")
  for pair in "${!latency[@]}"; do
    machine+=(-numa "hmat-lb,initiator=${pair%,*},target=${pair#*,},$kind-latency,latency=${latency[$pair]}")
  done
  for pair in "${!bandwidth[@]}"; do
    machine+=(-numa "hmat-lb,initiator=${pair%,*},target=${pair#*,},$kind-bandwidth,bandwidth=${bandwidth[$pair]}")
  done
}

# For the plugin: the node of each cpu in the order in which QEMU makes them, and the memory of each node.
plugin_arguments() {
  local -A node_of=()
  local node cpu of_cpus='' of_nodes=''
  for node in "${nodes[@]}"; do
    for cpu in $(expand "${cpus_of[$node]}"); do node_of[$cpu]=$node; done
    of_nodes+=":${memory_of[$node]}"
  done
  for ((cpu = 0; cpu < cpus; cpu++)); do
    [[ -n ${is_absent[$cpu]-} ]] || of_cpus+=":${node_of[$cpu]:-0}"
  done
  echo "cpus=${of_cpus#:},memory=${of_nodes#:}"
}
