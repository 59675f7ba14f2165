// The shim around a process that stays. Three processes outlive the service:
//
//      service ──marks of tries──▶ feeder ──claims the try, passes its line on──▶ program ──answers──▶ file
//                                    watchman ──the time of the run is up──▶ ends all
//
// A feeder whose service has died ends, which ends the input of the program. A feeder whose program has exited finishes
// what it passes on, before the exit is noted: a try that it has claimed is delivered or `undelivered` by then.

/** Passes on the line of a try that it has claimed. A service that has forbidden the try has claimed it before. */
const FEEDER = `
exited=
while trap - TERM; [ -z "$exited" ] && read -r mark; do
  trap "exited=1" TERM
  try=$RUNSHEET_TRIES/$mark line=line.$RUNSHEET_LIMIT_OF
  [ -e "$try/$line" ] || continue
  (set -C; echo $$ >"$try/go") 2>/dev/null || continue
  cat "$try/$line" || : >"$try/undelivered"
done
: >closed`;

/**
 * Reads in `timer` what the program is busy with and how many seconds that may take. It counts naps, because a
 * clock may leap. A program that has lost its input and is not busy has 60 seconds to end.
 */
const WATCHMAN = `
trap "kill \\$nap 2>/dev/null; exit 0" TERM
now= left=
while :; do
  sleep 1 &
  nap=$!
  wait $nap
  read -r mark limit <timer
  if [ "$mark" = idle ] && [ -e closed ]; then mark=closed limit=60; fi
  if [ "$mark" != "$now" ]; then now=$mark left=$limit; fi
  [ "$mark" = idle ] && continue
  left=$((left - 1))
  [ "$left" -gt 0 ] || break
done
trap : TERM
echo "$now" >limit
kill -TERM 0
sleep 5
kill -KILL 0`;

/** Gets the folder of the process as its only argument, and its service on stdin. */
export const STAYING_SHIM = `
cd "$1" || exit 1
set -C
{ echo $$ >go; } 2>/dev/null || exit 0
set +C
trap : TERM INT HUP
exec 3<&0 </dev/null
mkfifo in || exit 1
env -u RUNSHEET_TRY RUNSHEET_LIMIT_OF="$RUNSHEET_TRY" /bin/sh -c '${WATCHMAN}' 3<&- &
watchman=$!
env -u RUNSHEET_TRY RUNSHEET_LIMIT_OF="$RUNSHEET_TRY" /bin/sh -c '${FEEDER}' <&3 >in 3<&- &
feeder=$!
cd out || exit 1
/bin/sh -c "$RUNSHEET_COMMAND" <../in >>../log 2>&1 3<&- &
program=$!
while :; do
  wait "$program"
  code=$?
  kill -0 "$program" 2>/dev/null || break
done
kill -TERM "$feeder" 2>/dev/null
wait "$feeder"
mv ../open "../exit-$code"
kill -TERM "$watchman" 2>/dev/null
wait "$watchman"
`;
