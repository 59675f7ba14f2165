// Four servers of unlike speed share the rows of a batch so that none waits for another.

import { describe, expect, it, onTestFinished } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { until } from '../stage/stage.ts';
import { OwnService, portrait } from './own-service.ts';
import { ComfyStandIn } from './stand-in.ts';

const ROWS = 200;

type Work = { readonly fromMs: number; toMs: number };

/** A server that writes down when it executes. */
class Timed extends ComfyStandIn {
  readonly work: Work[] = [];

  static async of(slowness: number): Promise<Timed> {
    const timed = new Timed({ folder: freshFolder(), slowness });
    timed.on('began', () => timed.work.push({ fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY }));
    timed.on('ended', () => {
      const last = timed.work.at(-1);
      if (last) last.toMs = performance.now();
    });
    await timed.start();
    onTestFinished(() => timed.kill());
    return timed;
  }
}

async function scene() {
  const gpus = await Promise.all([1, 2, 4, 8].map((slowness) => Timed.of(slowness)));
  return { gpus, own: await OwnService.of(gpus, portrait({ seconds: 0.2 })) };
}

const queueAll = (own: OwnService): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: ROWS }, (_, at) => own.queue({ prompt: `row ${at}`, '3.seed': at })));

const allEnded = async (own: OwnService, ids: readonly string[]): Promise<void> => {
  for (const id of ids)
    await until(async () => (await own.run(id)).ended_at !== null, 'all have ended', 60_000);
};

/** The share of the time in which servers had nothing to do, while there were rows to send. */
function idleShare(gpus: readonly Timed[]): number {
  const works = gpus.flatMap(({ work }) => work);
  const from = Math.min(...works.map(({ fromMs }) => fromMs));
  const to = Math.max(...works.map(({ fromMs }) => fromMs));
  const busy = works.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, Math.min(toMs, to) - fromMs), 0);
  return 1 - busy / ((to - from) * gpus.length);
}

describe('four servers, of which each is half as fast as the one before', () => {
  it('have something to do until the last row is sent', async () => {
    const at = await scene();
    const ids = await queueAll(at.own);
    await allEnded(at.own, ids);
    const counts = at.gpus.map(({ executions }) => executions.length);
    expect(counts.reduce((sum, count) => sum + count)).toBe(ROWS);
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    expect(idleShare(at.gpus)).toBeLessThan(0.03);
  });

  it('lose no row if one of them freezes and then dies', async () => {
    const at = await scene();
    const { gpus, own } = at;
    const [fast] = gpus;
    const ids = await queueAll(own);
    await until(() => (fast?.executions.length ?? 0) > 10, 'it executes');
    fast?.freeze();
    await until(() => gpus.slice(1).every(({ executions }) => executions.length > 5), 'the others go on');
    await fast?.kill();
    await allEnded(own, ids);
    const executed = gpus.flatMap(({ executions }) => executions);
    const done = executed.filter(({ end }) => end === 'success').map(({ prompt_id }) => prompt_id);
    expect([...new Set(done)].toSorted()).toEqual(ids.toSorted());
    // The killed server was executing one run, and another may have begun unseen.
    expect(executed.length - ROWS).toBeLessThanOrEqual(2);
  });
});
