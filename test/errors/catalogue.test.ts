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

/** The errors that a case provokes. Every exception below has its reason in one sentence. */
const PROVOKED: ReadonlySet<string> = new Set(
  [
    SHEETS,
    LARGE,
    servicesWith({ at: () => '', gpu: () => '', secured: 'https://localhost:1', close: () => undefined }),
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
