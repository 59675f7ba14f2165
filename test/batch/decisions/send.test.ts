import { describe, expect, it } from 'vitest';
import { sendFrom } from '../send-from.ts';
import { GROUP_ATTEMPTS, MAX_ROWS } from '../../../src/batch/bounds.ts';
import { put } from '../../../src/batch/state/put-row.ts';
import { begin, waitingRows } from '../../../src/batch/state/state.ts';
import { step } from '../../../src/batch/step.ts';
import { paramsOf } from '../params.ts';
import { running } from '../scenes.ts';
import { World } from '../world.ts';

describe('send', () => {
  it('sending fills all slots immediately, in groups of at most 32', () => {
    const world = new World({ rows: 1_000, concurrency: 70 });
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([GROUP_ATTEMPTS, GROUP_ATTEMPTS, 6]);
    expect(world.sends[0]?.attempts.slice(0, 2)).toEqual([
      { place: 1, attempt: 1 },
      { place: 2, attempt: 1 },
    ]);
  });

  it('a row that is due again is sent before the next row of the sheet', () => {
    const world = running({ rows: 10, concurrency: 2 });
    world.finish('run-0', 'failed');
    world.answer(0, ['accepted']);
    world.pass(5_000);
    world.finish('run-1', 'succeeded');
    expect(world.sends.at(-1)?.attempts).toEqual([{ place: 1, attempt: 2 }]);
  });

  it('sending waits for the earliest row that is due again once every row of the sheet was sent', () => {
    const world = running({ rows: 2, concurrency: 2 });
    world.finish('run-0', 'failed');
    const dueAt = waitingRows(world.state)[0]?.dueAt ?? 0;
    world.pass(dueAt - world.state.now - 1);
    expect(world.sends).toEqual([]);
    world.pass(1);
    expect(world.sends).toHaveLength(1);
  });

  it('slots that are freed in one moment are filled by one group', () => {
    const world = running({ rows: 10, concurrency: 2 });
    const ended = (place: number, runId: string) =>
      ({
        type: 'runsCompleted',
        by: 'webhook',
        completions: [{ place, attempt: 1, runId, outcome: 'succeeded' }],
      }) as const;
    world.apply(ended(1, 'run-0'), ended(2, 'run-1'));
    expect(world.sends.map(({ attempts }) => attempts.length)).toEqual([2]);
  });

  it('a full state takes no further row in, and goes on with those that are in it', () => {
    const state = begin(paramsOf({ rows: 50_000, concurrency: 1, retries: 0 }), 1, 0);
    for (let row = 1; row <= MAX_ROWS; row += 1)
      put(state, { phase: 'waiting', place: row, attempt: 2, tries: 1, past: [], dueAt: 1_000 });
    sendFrom(state, MAX_ROWS + 1);
    const typesAt = (wallAt: number) => step(state, [{ type: 'woke' }], wallAt).map(({ type }) => type);
    expect(typesAt(1)).toEqual(['publish', 'wake']);
    expect(step(state, [{ type: 'woke' }], 1_000)[0]).toEqual({
      type: 'send',
      group: 1,
      attempts: [{ place: 1, attempt: 2 }],
      mayWait: true,
    });
  });

  it('the results of a group may wait for ends that webhooks report, unless the batch decides by them', () => {
    const mayWait = (params: Parameters<typeof paramsOf>[0] = {}, facts: object = {}) => {
      const state = Object.assign(begin(paramsOf({ rows: 1, ...params }), 2, 0), facts);
      return step(state, [{ type: 'started' }], 0).flatMap((command) =>
        command.type === 'send' ? [command.mayWait] : [],
      );
    };
    expect(mayWait()).toEqual([true]);
    expect(mayWait({ webhooks: false })).toEqual([undefined]);
    expect(mayWait({ adaptive: 4 })).toEqual([undefined]);
    expect(mayWait({}, { consecutiveFailures: 1 })).toEqual([undefined]);
    expect(mayWait({}, { rateLimit: { gapMs: 40, nextAt: 0 } })).toEqual([undefined]);
  });
});
