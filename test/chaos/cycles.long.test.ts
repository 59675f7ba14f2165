// Only with RUNSHEET_LONG=1: two minutes of the chaos, of which `npm run chaos -- --kills N` is more.

import { describe, expect, it } from 'vitest';
import { IS_LONG } from '../stage/outage.ts';
import { chaos } from './long/chaos.ts';
import { noFindings } from './long/verdict.ts';

describe.runIf(IS_LONG)('batches whose parts are killed in the moments that hurt, on a rough day', () => {
  it('have each row once with a true outcome, and name every run that was bought', async () => {
    const result = await chaos({
      kills: 14,
      minutes: 2,
      modes: ['cluster', 'embedded'],
      rows: 120,
      concurrency: 24,
      seed: 7,
      say: (text) => console.error(text),
    });
    expect(result.findings).toEqual(noFindings());
    expect(result.kills).toBeGreaterThan(5);
  }, 1_200_000);
});
