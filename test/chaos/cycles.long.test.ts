// Only with RUNSHEET_LONG=1: two minutes of the chaos test; `npm run chaos -- --kills N` runs longer.

import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../stage/outage.ts';
import { chaos } from './long/chaos.ts';
import { noFindings } from './long/verdict.ts';

describe.runIf(IS_LONG)(
  'batches whose processes are killed at critical moments, on a service with faults',
  () => {
    it('have each row once with its true outcome, and report every run that was bought', async () => {
      const result = await chaos({
        kills: 14,
        minutes: 2,
        modes: ['cluster', 'embedded'],
        rows: 120,
        concurrency: 24,
        seed: 7,
        log: (text) => console.error(text),
      });
      expect(result.findings).toEqual(noFindings());
      expect(result.kills).toBeGreaterThan(5);
    }, 1_200_000);
  },
);
