#!/bin/sh
# One row as people write it for GNU parallel: curl, a loop until the run has ended, the files, a line of JSON.
# Expects BASE, KEY, DEPLOYMENT and FOLDER; $1 is the row.
set -eu
post() { curl -sS -H "authorization: Bearer $KEY" -H 'content-type: application/json' "$@"; }
inputs="{\"number\":$1,\"prompt\":\"portrait number $1 in soft light\",\"seed\":$1}"
run="$(post -d "{\"deployment_id\":\"$DEPLOYMENT\",\"inputs\":$inputs}" "$BASE/run/deployment/queue" | sed 's/.*"run_id":"\([^"]*\)".*/\1/')"
while :; do
  sleep 0.05
  answer="$(post "$BASE/run/$run")"
  case "$answer" in *'"status":"success"'*) break ;; *'"status":"failed"'* | *'"status":"timeout"'* | *'"status":"cancelled"'*) exit 1 ;; esac
done
mkdir -p "$FOLDER/$1"
file=1
for url in $(printf '%s' "$answer" | grep -o '"url":"[^"]*"' | cut -d '"' -f 4); do
  curl -sS -o "$FOLDER/$1/$file.png" "$url"
  file=$((file + 1))
done
printf '{"row":%s,"run":%s}\n' "$1" "$answer" >>"$FOLDER/results.jsonl"
