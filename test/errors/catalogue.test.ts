// Every code of the catalogue has an entry in the tables of provocations.

import { describe, expect, it } from 'vitest';
import { errorTable } from '../../src/errors/codes.ts';
import { APPLICATIONS } from './cases/applications.ts';
import { BATCHES } from './cases/batches.ts';
import { CLUSTERS } from './cases/clusters.ts';
import { diskCases, EMBEDDED } from './cases/embedded.ts';
import { PROGRAMS } from './cases/programs.ts';
import { AGAIN } from './cases/again.ts';
import { GONE } from './cases/gone.ts';
import { RUNNING } from './cases/running.ts';
import { servicesWith } from './cases/services.ts';
import { LARGE, SHEETS } from './cases/sheets.ts';
import { USAGE } from './cases/usage.ts';
import { commandsIn, wordsOf } from './printed-commands.ts';

/** One sentence each. */
const PROVOKED: ReadonlySet<string> = new Set(
  [
    SHEETS,
    LARGE,
    servicesWith({ at: () => '', close: () => undefined }),
    BATCHES,
    USAGE,
    PROGRAMS,
    APPLICATIONS,
    CLUSTERS,
    RUNNING,
    GONE,
    AGAIN,
    EMBEDDED,
    diskCases(true),
  ]
    .flat()
    .map(({ code }) => code),
);

describe('the catalogue', () => {
  it('has no code that no test provokes', () => {
    const missing = Object.keys(errorTable).filter((code) => !PROVOKED.has(code));
    expect(missing).toEqual([]);
  });
});

describe('a printed command', () => {
  it('ends where its sentence goes on, but not inside quotes', () => {
    const text = [
      "start one: runsheet worker. Or: runsheet rows 'a; b, c' -o csv, or runsheet list (all)",
      'wait: runsheet wait a && runsheet wait b; a runsheet worker may do it',
      "  runsheet run 'x (1).csv' -d y, z; w",
      "  OUT='a b' runsheet worker",
    ].join('\n');
    expect(commandsIn(text)).toEqual([
      'runsheet worker',
      "runsheet rows 'a; b, c' -o csv",
      'runsheet list',
      'runsheet wait a && runsheet wait b',
      "runsheet run 'x (1).csv' -d y, z; w",
      "OUT='a b' runsheet worker",
    ]);
  });

  it('is read as bash reads it, also with the path of the program', () => {
    const command = String.raw`node /a/bin/runsheet.mjs rows $'a\x0ab' 'it'\''s $HOME' && runsheet list`;
    expect(wordsOf(command)).toEqual([['rows', 'a\nb', "it's $HOME"], ['list']]);
  });
});
