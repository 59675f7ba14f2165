// Bugs in what is known of a batch beyond its workflow: rebuilt from what remains, told late, kept secret.

import type { Mutant } from '../mutant.ts';

const RECOVERY = 'src/account/recovery.ts';
const REBUILT = 'test/account/recovery.test.ts';
const LATE = 'src/results/late.ts';
const NOTED = 'test/results/late.test.ts';
const SECRETS = 'src/secrets.ts';
const HIDDEN = 'test/secrets/secrets.test.ts';

export const REMEMBERING: readonly Mutant[] = [
  {
    id: 'rebuilt-under-used-attempts',
    rule: 'R20',
    loses: 'which run is whose: a row that is sent anew has the token of its first, forgotten order',
    file: RECOVERY,
    old: 'const FIRST_ATTEMPT = 101;',
    new: 'const FIRST_ATTEMPT = 1;',
    by: [REBUILT],
  },
  {
    id: 'rebuilt-too-early',
    rule: 'R20',
    loses: 'the last orders of the batch before: the lists do not show them yet, and they are bought again',
    file: RECOVERY,
    old: 'if (now - newest < quietMs)',
    new: 'if (now < newest)',
    by: [REBUILT],
  },
  {
    id: 'rebuilt-without-quiet',
    rule: 'R20',
    loses: 'what was on the wire when the batch was given up: it becomes a run, and its row is bought again',
    file: 'src/account/quiet.ts',
    old: 'if (leftMs <= 0) return;',
    new: 'if (since !== null) return;',
    by: [REBUILT],
  },
  {
    id: 'rebuilt-without-parts',
    rule: 'R20',
    loses: 'every row that was done',
    file: RECOVERY,
    old: '    rows[row.row] = 1;\n',
    new: '',
    by: [REBUILT],
  },
  {
    id: 'rebuilt-without-runs',
    rule: 'R20',
    loses: 'every run that goes on: its row is bought again',
    file: RECOVERY,
    old: 'const own = ownRun(runs);',
    new: 'const own = ownRun([]);',
    by: [REBUILT],
  },
  {
    id: 'rebuilt-by-the-first-run',
    rule: 'R20',
    loses: 'a success: a row is judged by another run of it, which failed or was cancelled',
    file: RECOVERY,
    old: 'rank(a) - rank(b) || a.attempt - b.attempt',
    new: 'b.attempt - a.attempt',
    by: [REBUILT],
  },
  {
    id: 'clock-behind-hides-runs',
    rule: 'R11',
    loses: 'what was bought, where the clock of the service is behind: rows are bought again',
    file: 'src/account/run-pages.ts',
    old: '    if (offset === 0) oldest -= behindMs(page, Date.now());\n',
    new: '',
    by: ['test/account/reading.test.ts', 'test/activities/look-in-lists.test.ts'],
  },
  {
    id: 'late-runs-told-again',
    rule: 'R13',
    loses: 'the count of late runs: each webhook that is repeated is another one',
    file: LATE,
    old: '  if (before.includes(end.runId)) return false;\n',
    new: '',
    by: [NOTED],
  },
  {
    id: 'late-runs-forgotten',
    rule: 'R13',
    loses: 'every late run but the last',
    file: LATE,
    old: '`${before}${JSON.stringify(line)}\\n`',
    new: '`${JSON.stringify(line)}\\n`',
    by: [NOTED],
  },
  {
    id: 'named-runs-are-late',
    rule: 'R13',
    loses: 'trust: runs that the results name are told as if nobody knew them',
    file: LATE,
    old: "  if (await isNamed(store, 'results.jsonl', end.runId)) return false;\n",
    new: '',
    by: [NOTED],
  },
  {
    id: 'bearer-tokens-said',
    rule: 'F22',
    loses: 'a key that only an answer of the service quotes',
    file: SECRETS,
    old: '    .replaceAll(BEARER, `$1${STRUCK}`)\n',
    new: '',
    by: [HIDDEN],
  },
  {
    id: 'webhook-macs-said',
    rule: 'F22',
    loses: 'the right to tell ends: an address with its MAC stands in a log',
    file: SECRETS,
    old: '\n    .replaceAll(MAC, `$1${STRUCK}`);',
    new: ';',
    by: [HIDDEN],
  },
  {
    id: 'secrets-said-in-base64',
    rule: 'F22',
    loses: 'a key inside of a header that somebody logs encoded',
    file: SECRETS,
    old: '    ...encoded,\n',
    new: '',
    by: [HIDDEN],
  },
];
