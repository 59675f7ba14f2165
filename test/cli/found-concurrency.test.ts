import { describe, expect, it } from 'vitest';
import { allowedNow, foundText, usefulLines } from '../../src/cli/follow/found-concurrency.ts';
import type { Summary } from '../../src/results/summary.ts';

const useful = (...figures: readonly object[]): Summary =>
  ({ useful_concurrency: figures }) as unknown as Summary;
const A10G = { gpu: 'A10G', is_default: true, concurrency: 14, basis: 'found' };
const H100 = { gpu: 'H100', is_default: false, concurrency: 3, basis: 'found' };

describe('what -c auto has found', () => {
  it('is shown while the batch runs, with the number of slots that follows', () => {
    const figure = { concurrency: 256, slots: 14, useful: [{ concurrency: 14, basis: 'found' }] } as const;
    expect([foundText(figure), allowedNow(figure)]).toEqual(['concurrency 14 found, at most 256', 14]);
    const two = {
      concurrency: 20,
      slots: 20,
      useful: [
        { concurrency: 14, basis: 'searching' },
        { gpu: 'H100', concurrency: 8, basis: 'untimed' },
      ],
    } as const;
    expect([foundText(two), allowedNow(two)]).toEqual([
      'concurrency default GPU 14 so far, H100 8 without queueing times, so only 429 changes it, at most 20',
      20,
    ]);
    expect([foundText({ concurrency: 4 }), allowedNow({ concurrency: 4 })]).toEqual([undefined, 4]);
  });

  it('is advice for the next batch at the end', () => {
    expect(usefulLines(useful(A10G))).toEqual(['  useful concurrency on A10G: 14; next time give -c 14']);
    expect(usefulLines(useful(A10G, H100))).toEqual([
      '  useful concurrency on A10G: 14 (default GPU)',
      '  useful concurrency on H100: 3; next time give --gpu-concurrency H100=3',
    ]);
    expect(usefulLines(useful({ ...A10G, gpu: null, basis: 'searching' }))).toEqual([
      '  useful concurrency: not found; up to 14, no run queued for long',
    ]);
    expect(usefulLines(useful({ ...A10G, basis: 'untimed' }))).toEqual([
      '  useful concurrency on A10G: unknown, because the service shows no queueing times; 14 was used',
    ]);
  });

  it('is no line of a batch with a fixed concurrency', () => {
    expect(usefulLines({} as Summary)).toEqual([]);
  });
});
