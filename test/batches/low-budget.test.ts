// --max-cost that does not suffice is asked about before anything is bought.

import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { withCopy } from '../../src/batches/copy-sheet.ts';
import { NewBatch } from '../../src/batches/new-batch.ts';
import { statedAnswers, asOption, type Question } from '../../src/batches/questions.ts';
import { refusal } from '../../src/batches/question-texts.ts';
import { deploymentSchema } from '../../src/service-client/contract/deployment.ts';
import { ASKED } from './create.ts';
import { Place } from './creating.ts';
import { addResults } from './earlier.ts';

const PRICE = 0.001;
/** The reservation for a run: its time limit, and 300 s. */
const RUN_USD = PRICE * (600 + 300);
const DEPLOYMENT = deploymentSchema.parse({ id: ASKED.deployment.id, gpu: 'Z1', run_timeout: 600 });
const SERVICE = { ...ASKED.service, rehearsal: false, base: 'https://gpu.example', prices: { Z1: PRICE } };

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write('many.csv', `prompt\n${Array.from({ length: 1_000 }, (_, at) => `row ${at}\n`).join('')}`);
});

const asked = (maxUsd: number | undefined, answers = {}) => ({
  ...ASKED,
  deployment: DEPLOYMENT,
  service: SERVICE,
  settings: { ...ASKED.settings, ...(maxUsd !== undefined && { maxCostNano: maxUsd * 1e9 }) },
  answers: { ...ASKED.answers, ...answers },
});

function proposed<T>(params: ReturnType<typeof asked>, use: (batch: NewBatch) => T | Promise<T>): Promise<T> {
  const at = { out: place.out, stdin: Readable.from([]) };
  return withCopy(join(place.folder, 'many.csv'), at, async (copy) => {
    using batch = await NewBatch.of({ ...params, copy, out: place.out });
    return await use(batch);
  });
}

const questionsAt = (maxUsd: number | undefined): Promise<readonly Question[]> =>
  proposed(asked(maxUsd), ({ questions }) => questions);

/** The limit that the first answer sets. */
function raisedTo([question]: readonly Question[]): number {
  const patch = question && statedAnswers(question)[0].with;
  return patch !== undefined && 'settings' in patch ? (patch.settings?.maxCostNano ?? 0) / 1e9 : 0;
}

/** Runs of about 30 s, so that a row costs about three cents. */
async function ranBefore(): Promise<void> {
  place.write('before.csv', `prompt\n${Array.from({ length: 30 }, (_, at) => `before ${at}\n`).join('')}`);
  const before = await place.create('before.csv', asked(undefined));
  const run = { attempt: 1, outcome: 'succeeded', run_id: 'r', gpu_used: 'Z1' } as const;
  const times = { queue_seconds: 0, cold_start_seconds: 0, run_seconds: 30, cost_usd: 30 * PRICE };
  await addResults(before, { more: { attempts: [{ ...run, ...times }] } });
}

describe('a limit of the cost below what one run may cost', () => {
  it('is asked about, and only a higher one helps', async () => {
    const questions = await questionsAt(RUN_USD - 0.01);
    expect(questions).toMatchObject([{ id: 'lowBudget', gpu: 'Z1' }]);
    expect(refusal(questions, asOption)).toMatchObject({
      code: 'E547',
      message: expect.stringContaining('that one run on Z1 may cost'),
      hint: expect.not.stringContaining('acceptCost'),
    });
    expect(await questionsAt(raisedTo(questions))).toEqual([]);
  });

  it('is no question without rows to send, or without a limit', async () => {
    expect(await questionsAt(undefined)).toEqual([]);
    expect(await questionsAt(RUN_USD * 1_000)).toEqual([]);
  });
});

describe('a limit of the cost below the forecast', () => {
  it('is asked about with a number that suffices, or is kept', async () => {
    await ranBefore();
    const questions = await questionsAt(10);
    expect(questions).toMatchObject([{ id: 'lowBudget', maxNano: 10e9 }]);
    const raised = raisedTo(questions);
    expect(raised).toBeGreaterThan(30);
    expect(raised).toBeLessThan(100);
    expect(await questionsAt(raised)).toEqual([]);
    expect(await proposed(asked(10, { lowBudget: 'accept' }), ({ questions: open }) => open)).toEqual([]);
  });

  it('is raised by its answer, without reading the sheet again', async () => {
    await ranBefore();
    const made = await proposed(asked(10), async (batch) => {
      const mark = batch.draft?.file.mark;
      await batch.limit(50e9);
      expect([batch.questions, batch.draft?.file.mark]).toEqual([[], mark]);
      return batch.carryOut();
    });
    expect(made.file.maxCostNano).toBe(50e9);
  });

  it('counts no rows that are reused', async () => {
    await ranBefore();
    place.write('some.csv', `prompt\n${Array.from({ length: 999 }, (_, at) => `row ${at}\n`).join('')}`);
    await addResults(await place.create('some.csv', asked(undefined)));
    const reusing = asked(1, { earlier: 'reuse', open: undefined });
    expect(await proposed(reusing, ({ questions }) => questions)).toEqual([]);
  });
});
