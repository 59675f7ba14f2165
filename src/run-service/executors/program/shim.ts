// The shim around a program: a few lines of sh that outlive the service. The folder of a try is the truth:
//
//      open, no go ──the shim claims it──▶ open, go ──the program has exited──▶ exit-<code>, go
//
// Whoever creates `go` first owns the try: the shim, which then begins, or a service that forbids it to begin.

/** Gets the folder of a try as its only argument. `RUNSHEET_LIMIT`: seconds after which it ends the program by itself. */
export const SHIM = `
cd "$1" || exit 1
set -C
{ echo $$ >go; } 2>/dev/null || exit 0
set +C
trap : TERM INT HUP
env -u RUNSHEET_TRY RUNSHEET_LIMIT_OF="$RUNSHEET_TRY" /bin/sh -c '
sleep "$RUNSHEET_LIMIT" &
sleeper=$!
trap "kill $sleeper; exit 0" TERM
wait "$sleeper"
trap : TERM
: >limit
kill -TERM 0
sleep 5
kill -KILL 0' &
limiter=$!
cd out || exit 1
/bin/sh -c "$RUNSHEET_COMMAND" <../inputs.json >>../log 2>&1 &
program=$!
while :; do
  wait "$program"
  code=$?
  kill -0 "$program" 2>/dev/null || break
done
mv ../open "../exit-$code"
kill -TERM "$limiter" 2>/dev/null
wait "$limiter"
`;
