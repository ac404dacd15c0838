#!/usr/bin/env bash
# Installs Chromium and axe-core for the browser tests. Where one of them cannot be installed (no root, no apt, no npm),
# the tests that need it are skipped and say so.
set -euo pipefail
cd "$(dirname "$0")/.."

AXE=axe-core@4.14.0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
install() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }
missing() {
  tail -n 5 "$log"
  echo "$1"
}

if command -v apt-get >/dev/null; then
  packages=()
  command -v chromium >/dev/null || packages+=(chromium)
  command -v npm >/dev/null || packages+=(npm)
  if [ ${#packages[@]} -gt 0 ]; then
    as_root apt-get update >"$log" 2>&1 || missing "the package lists could not be fetched"
    for package in "${packages[@]}"; do
      install "$package" >"$log" 2>&1 || missing "$package could not be installed: tests that need it are skipped"
    done
  fi
fi
if [ ! -e node_modules/axe-core/axe.min.js ] && command -v npm >/dev/null; then
  npm install --no-save --no-audit --no-fund "$AXE" >"$log" 2>&1 \
    || missing "axe-core could not be installed: accessibility tests are skipped"
fi
