// How commands end.

/** Exit codes of the command line, as in `runsheet --help`. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  someRowsFailed: 3,
  doesNotHold: 3,
  notAuthenticated: 4,
  inputRefused: 5,
  unreachable: 6,
  waitedTooLong: 7,
  paused: 8,
  interrupted: 130,
} as const;
