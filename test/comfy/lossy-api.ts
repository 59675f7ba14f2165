// Requests to a Comfy API, and their answers, are lost at random, while our service is restarted: each row is bought once, and delivered,
// or its end is unknown where the contract leaves no proof.

import { describe, expect, it } from 'vitest';
import { numbersFrom } from '../../src/run-service/chance.ts';
import { until } from '../stage/stage.ts';
import { openApiScene } from './api-scene.ts';
import type { ApiStandIn, Loss } from './api-stand-in.ts';
import type { Mode } from './api-surfaces.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { isDoubtful, portrait, type OwnService, type Run } from './own-service.ts';

const ROWS = 30;
const LOST = 0.2;

/** Only a proxy can die between ComfyUI's answer and its own. */
const LOSSES: Readonly<Record<Mode, readonly Loss[]>> = {
  deployment: ['everything', 'the answer', 'the request'],
  'old-deployment': ['everything', 'the answer', 'the request'],
  cloud: ['everything', 'the answer', 'the request'],
  proxy: ['everything', 'the answer', 'the request', 'its memory'],
};

/** The answer to the third job is always lost, whatever else is. */
function loseAtRandom(api: ApiStandIn, mode: Mode, seed: number): void {
  const next = numbersFrom(seed);
  let jobs = 0;
  api.drops = ({ method, path }) => {
    if (method === 'POST' && path.endsWith('/jobs')) jobs += 1;
    const loss = next() < LOST ? LOSSES[mode][Math.floor(next() * LOSSES[mode].length)] : undefined;
    return jobs === 3 && method === 'POST' ? 'the answer' : loss;
  };
}

const isOver = (run: Run): boolean => run.ended_at !== null || isDoubtful(run);

export const rowsOverALossyApi = (seeds: readonly number[]): void =>
  describe.each(['deployment', 'old-deployment', 'cloud', 'proxy'] as const)('in front of a %s', (mode) => {
    it.each(seeds)(
      'no row is bought twice, and those that can be known are delivered (seed %s)',
      async (seed) => {
        const timing = { spentMs: 300, provedMs: 400, moveAfterMs: 600_000 };
        const { own, api } = await openApiScene(
          mode,
          portrait({ seconds: 0.02 }),
          timing,
          mode === 'proxy' ? 1 : 5,
        );
        loseAtRandom(api, mode, seed);
        const ids: string[] = [];
        for (let row = 0; row < ROWS; row += 1) ids.push(await own.queue({ prompt: `owl ${row}` }));
        for (const executed of [8, 16]) {
          await until(() => api.executions.length >= executed, `${executed} are executed`);
          await own.close();
          await own.open();
        }
        const rows: ResultRow[] = [];
        for (const [row, id] of ids.entries())
          rows.push(await rowOf(own, api, row, await own.until(id, isOver)));
        const wrong = rows.filter(({ isUnknown, isUnheard, times, isRight }) =>
          isUnknown ? !isUnheard || times > 1 : !isRight || times !== 1,
        );
        expect([wrong, api.unheard.size > 0]).toEqual([[], true]);
        // A deployment shows what it has of each label.
        const unknown = rows.filter(({ isUnknown }) => isUnknown);
        expect(unknown.length).toBeLessThanOrEqual(mode === 'deployment' ? 0 : api.unheard.size);
      },
    );
  });

type ResultRow = {
  readonly row: number;
  readonly status: string;
  readonly log: string;
  /** How often it was executed. */
  readonly times: number;
  readonly isUnknown: boolean;
  /** Whether the answer to its request was lost, and its key is used. */
  readonly isUnheard: boolean;
  readonly isRight: boolean;
};

async function rowOf(own: OwnService, api: ApiStandIn, row: number, run: Run): Promise<ResultRow> {
  const text = `owl ${row}`;
  const hasSucceeded = run.status === 'success';
  return {
    row,
    status: run.status,
    log: await own.log(run.id),
    times: api.executions.filter(({ graph: { 3: node } }) => node?.inputs['text'] === text).length,
    isUnknown: isDoubtful(run),
    isUnheard: api.unheard.has(`rs-${run.id}-1`),
    isRight: hasSucceeded && colourOf(await own.picture(run)) === drawnColour(text, 1),
  };
}
