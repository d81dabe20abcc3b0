# shellcheck shell=bash
# Packages, Debian's kernel, and the part of the initial file system that is the same for all guests. Nothing of the
# kernel is installed on this machine: it is unpacked into a cache.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/farrow-guest
kernel=$cache/amd64

missing_packages() {
  local pair
  for pair in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static depmod:kmod cpio:cpio xz:xz-utils zstd:zstd; do
    command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"
  done
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  command -v apt-get >/dev/null || { say "needs apt-get for Debian's kernel"; exit 77; }
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || { say "needs ${missing[*]}: apt-get install ${missing[*]}"; exit 77; }
  say "installing ${missing[*]}"
  { apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"; } >/dev/null ||
    broke "cannot install ${missing[*]}"
}

apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"; }

# Newest kernel package that the meta package stands for.
kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9]\S*\)/\1/p' | head -1
}

# Once a machine, however many guests start at the same time.
prepare_kernel() {
  [[ -e $kernel/ready ]] && return
  mkdir -p "$cache"
  (
    flock 9
    [[ -e $kernel/ready ]] && exit
    rm -rf "$kernel"
    mkdir -p "$kernel"
    cd "$kernel"
    unpack_kernel
    make_base
    touch ready
  ) 9>"$cache/lock"
}

unpack_kernel() {
  local package
  package=$(kernel_package)
  if [[ -z $package ]]; then
    apt_get update >/dev/null
    package=$(kernel_package)
  fi
  [[ -n $package ]] || broke "apt knows no linux-image-amd64"
  say "unpacking $package into $kernel"
  { apt-get -qq download "$package" 2>&1 || broke "cannot download $package"; } | { grep -v unsandboxed >&2 || true; }
  dpkg-deb -x "$package"_*.deb root
  rm -f -- *.deb
  local image
  image=$(echo root/boot/vmlinuz-*)
  echo "${image#root/boot/vmlinuz-}" >version
  unpack_image "$image"
  depmod -b root "$(<version)" 2>/dev/null || true
}

# The uncompressed image, which QEMU boots directly (PVH): decompressing it in the guest takes seconds. Offsets are those
# of the Linux boot protocol: setup_sects at 0x1f1, payload_offset and payload_length at 0x248.
unpack_image() {
  local image=$1 sectors offset length
  sectors=$(od -An -tu1 -j $((0x1f1)) -N1 "$image")
  read -r offset length < <(od -An -tu4 -j $((0x248)) -N8 "$image")
  payload() { tail -c +$(((sectors + 1) * 512 + offset + 1)) "$image" | head -c $((length - 4)); }
  case $(payload | head -c 4 | od -An -tx1 | tr -d ' ') in
    fd377a58) payload | xz -dc >vmlinux ;;
    28b52ffd) payload | zstd -dc >vmlinux ;;
    1f8b*) payload | gzip -dc >vmlinux ;;
  esac || true
  # A packing that is not known here: let the guest do it.
  [[ $(head -c 4 vmlinux 2>/dev/null | tail -c 3) == ELF ]] || cp "$image" vmlinux
}

# Modules that the guest loads before it has a root.
modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay kmem dax_hmem)

make_base() {
  mkdir -p base/{bin,proc,sys,dev,run,modules,lower,upper,newroot}
  cp "$(command -v busybox)" base/bin/busybox
  cp "$here/parts/init" base/init
  local module path name
  for module in "${modules[@]}"; do
    modprobe -d root -S "$(<version)" --show-depends "$module" 2>/dev/null | sed -n 's/^insmod //p' || true
  done | awk '!seen[$1]++ { print $1 }' >modules
  while read -r path; do
    name=$(basename "${path%.xz}")
    case $path in
      *.xz) xz -dc "$path" >"base/modules/$name" ;;
      *) cp "$path" "base/modules/" ;;
    esac
    echo "$name"
  done <modules >base/modules/order
  rm -rf root
  (cd base && find . | cpio --quiet -o -H newc) >base.cpio
}
