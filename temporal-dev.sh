#!/bin/sh
# Temporal, Postgres, the worker and the demonstration on the loopback: ./temporal-dev.sh help
set -eu

# A link to this script is followed, so that it may lie on PATH.
script=$0
while [ -L "$script" ]; do
  target=$(readlink "$script")
  case $target in
    /*) script=$target ;;
    *) script=$(dirname "$script")/$target ;;
  esac
done
root=$(cd "$(dirname "$script")" && pwd -P)

if ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null; then
  echo "NODE_TOO_OLD Node.js 20.19 or later is needed; found: $(node --version 2>/dev/null || echo none). Install it from https://nodejs.org and start again." >&2
  exit 1
fi

if [ ! -e "$root/node_modules/tsx" ] || [ ! -e "$root/node_modules/@temporalio/client" ]; then
  echo "  installing packages (once) ..." >&2
  if ! (cd "$root" && npm ci --no-fund --no-audit >&2); then
    echo "INSTALL_FAILED the packages could not be installed. See what npm said above; when the network is back, start again." >&2
    exit 1
  fi
fi

cd "$root"
exec node --import tsx "$root/bin/dev/temporal-dev.ts" "$@"
