import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progress } from '../../src/batch/shown/progress.ts';
import { watchBatches, type Watched } from '../../src/monitoring/batch-watch.ts';
import { type RecentBatch } from '../../src/temporal/recent-batches.ts';
import type { Summary } from '../../src/results/summary.ts';
import { running } from '../batch/scenes.ts';
import { MARK } from './figures.ts';

const NOW = progress(running({ rows: 40, concurrency: 6 }).state);
const SUMMARY = { rows: 40, outcomes: { succeeded: 40 }, gpus: {}, requests: NOW.ledger, cost_usd: 7 };

describe('the watch of batches', () => {
  let recent: RecentBatch[];
  let listed: number;
  let summaries: number;
  let isAway: boolean;
  let failures: string[];
  let watch: () => Promise<Watched>;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    [recent, listed, summaries, isAway, failures] = [[], 0, 0, false, []];
    watch = watchBatches({
      recent: async () => {
        listed += 1;
        if (isAway) throw new Error('Temporal is away');
        return { batches: recent, isComplete: true };
      },
      summaryOf: async ({ batch }) => {
        summaries += 1;
        if (batch === 'hidden') throw new Error('no such folder');
        return SUMMARY as unknown as Summary;
      },
      failed: (reason) => failures.push(reason),
    });
  });
  afterEach(() => vi.useRealTimers());

  const batch = (name: string, facts: Partial<RecentBatch> = {}): RecentBatch => ({
    batch: name,
    mark: MARK,
    folder: `/${name}`,
    workflow: 'running',
    closedAt: undefined,
    progress: NOW,
    ...facts,
  });
  const ended = (name: string, closedAt = 1): RecentBatch =>
    batch(name, { workflow: 'completed', closedAt: new Date(closedAt) });
  const states = async (): Promise<readonly string[]> =>
    (await watch()).batches.map(({ batch: name, figures: { state } }) => `${name} ${state}`);
  const later = (): void => void vi.advanceTimersByTime(2_000);

  it('asks Temporal once, however many scrapers ask together and in short intervals', async () => {
    recent = [batch('a')];
    await Promise.all([watch(), watch(), watch()]);
    vi.advanceTimersByTime(1_999);
    await watch();
    expect(listed).toBe(1);
    vi.advanceTimersByTime(1);
    await watch();
    expect(listed).toBe(2);
  });

  it('reads the summary of an ended batch once, and again after it has ended again', async () => {
    recent = [batch('a')];
    expect(await states()).toEqual(['a running']);
    recent = [ended('a')];
    for (let nth = 0; nth < 3; nth += 1) {
      later();
      expect(await states()).toEqual(['a finished']);
    }
    expect(summaries).toBe(1);
    later();
    recent = [batch('a')];
    expect(await states()).toEqual(['a running']);
    later();
    recent = [ended('a', 2)];
    expect(await states()).toEqual(['a finished']);
    expect(summaries).toBe(2);
  });

  it('shows the last published progress of a batch whose folder it cannot read', async () => {
    recent = [{ ...ended('hidden'), progress: { ...NOW, state: 'finished' } }];
    const [shown] = (await watch()).batches;
    expect(shown?.figures).toMatchObject({ state: 'finished', rows: 40, concurrency: 6 });
  });

  it('calls a batch failed if its workflow ended without results', async () => {
    recent = [batch('a', { workflow: 'failed', closedAt: new Date(1) })];
    expect(await states()).toEqual(['a failed']);
    expect(summaries).toBe(0);
  });

  it('leaves a batch out until it has read its parameters', async () => {
    recent = [batch('a', { progress: undefined }), batch('b')];
    expect(await states()).toEqual(['b running']);
  });

  it('keeps the figures while Temporal is away, says since when, and reads them when it is back', async () => {
    recent = [batch('a')];
    const { readAtMs } = await watch();
    isAway = true;
    later();
    expect(await watch()).toMatchObject({ readAtMs, batches: [{ batch: 'a' }] });
    expect(failures).toEqual(['Temporal is away']);
    isAway = false;
    later();
    expect((await watch()).readAtMs).toBeGreaterThan(readAtMs ?? 0);
  });
});
