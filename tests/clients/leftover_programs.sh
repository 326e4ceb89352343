#!/bin/bash
# leftover_programs.sh BASE: a real tool server, a real headless browser and a real dev server on ports BASE+1 to BASE+3,
# started by whoever runs this. Returns when all three answer. LEFTOVERS names the npm packages.
base=$1
work=$(mktemp -d -p "$HOME") # no scratch: only their environment says whose they are
cd "$work" && echo hello > index.html || exit 1
node "$LEFTOVERS/node_modules/.bin/playwright-mcp" --port $((base + 1)) --headless > mcp.log 2>&1 < /dev/null &
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$work/profile" --remote-debugging-port=$((base + 2)) \
  about:blank > chromium.log 2>&1 < /dev/null &
node "$LEFTOVERS/node_modules/vite/bin/vite.js" --host 127.0.0.1 --port $((base + 3)) --strictPort > vite.log 2>&1 < /dev/null &
for port in $((base + 1)) $((base + 2)) $((base + 3)); do
  for _ in $(seq 300); do
    (: < "/dev/tcp/localhost/$port") 2> /dev/null && continue 2
    sleep 0.2
  done
  echo "nobody answers on $port" >&2
  tail -n 5 ./*.log >&2
  exit 1
done
echo "all three answer"
[ "$2" != --stay ] || wait
