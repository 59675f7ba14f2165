// A run whose answer was lost at a vendor with a list, while the list itself fails: nothing is known, so nothing is sent.

import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { SUBMIT } from '../../src/run-service/executors/vendors/vendor-answers.ts';
import { OwnService } from '../comfy/own-service.ts';
import { openReplicate } from './replicate.ts';
import type { VendorAnswer } from './vendor-stand-in.ts';

const TIMING = { pollOnlyMs: 20, lateMs: 60, settledMs: 60, moveAfterMs: 100 };
const FAILURES = 12;

beforeAll(() => void Object.assign(SUBMIT, { waitMs: 2_000, slackMs: 0, queueMs: 300 }));

const FAULTS: readonly (readonly [fault: string, answer: VendorAnswer])[] = [
  ['answers 500', { status: 500 }],
  ['refuses the key', { status: 401, body: { detail: 'Unauthenticated' } }],
  ['answers with no list', { status: 200, body: { results: 'none' } }],
];

it.each(FAULTS.flatMap((fault) => [['taken', ...fault] as const, ['never taken', ...fault] as const]))(
  'a run that was %s stays in doubt while the list %s, and is not sent again meanwhile',
  async (lost, _, answer) => {
    const replicate = await openReplicate();
    onTestFinished(() => replicate.close());
    const own = await OwnService.of([], undefined, TIMING);
    await own.addAny({
      servers: [{ url: replicate.url, kind: 'replicate', key: replicate.key }],
      models: [{ vendor: 'replicate', model: replicate.model, name: 'painter' }],
    });
    replicate.lose('closed', 1, lost === 'taken' ? 'after' : 'before');
    const postsAtFailure: number[] = [];
    const id = await own.queue({ prompt: 'fox', seed: 7 });
    const failing = {
      ...answer,
      get status() {
        postsAtFailure.push(replicate.posts());
        return answer.status;
      },
    };
    replicate.readNext(
      /^\/v1\/predictions$/,
      Array.from({ length: FAILURES }, () => failing),
    );
    expect((await own.until(id)).status).toBe('success');
    // The request went out once, and not again before the last failure.
    expect([postsAtFailure.length, Math.max(...postsAtFailure)]).toEqual([FAILURES, 1]);
    expect([replicate.posts(), replicate.executions().length]).toEqual([lost === 'taken' ? 1 : 2, 1]);
  },
);
