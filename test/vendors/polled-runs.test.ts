// A vendor whose reads name the model: each poll has the model and the time limit of a run.

import { expect, it } from 'vitest';
import type { Seen, Sent, SentTask } from '../../src/run-service/executors/backend.ts';
import type { InputsTask } from '../../src/run-service/executors/task.ts';
import { openDoubtful, openRemote } from '../comfy/doubtful-server.ts';
import { until } from '../stage/stage.ts';

const PAINTER: InputsTask = {
  kind: 'model',
  id: 'p',
  name: 'painter',
  vendor: 'replicate',
  model: 'owner/painter',
  inputs: undefined,
  isPaid: true,
  runTimeoutSeconds: 90,
};

it('a poll has the model and the time limit of each run: while it executes, after a restart, and once it is cancelled', async () => {
  const { open } = await openDoubtful({ lost: 'asked', gone: 'unknown' }, '502');
  let polled: readonly Sent[] = [];
  const submitted: (SentTask | undefined)[] = [];
  const { queue, rows, cancel, restart } = openRemote(
    () => ({
      ...open(),
      kind: 'replicate',
      submit: ({ task }) => {
        submitted.push(task);
        return Promise.resolve({ kind: 'accepted', ref: 'r' });
      },
      poll: (runs) => {
        if (runs.length > 0) polled = runs;
        return Promise.resolve(new Map(runs.map(({ id }): [string, Seen] => [id, { at: 'running' }])));
      },
    }),
    {},
    PAINTER,
  );
  const shown = (): readonly unknown[] =>
    polled.map(({ task }) => [task?.target.kind === 'model' && task.target.model, task?.timeLimitMs]);
  const id = queue();
  await until(() => rows.get(id)?.status === 'running', 'it executes');
  const expected = [['owner/painter', 90_000]];
  expect(shown()).toEqual(expected);
  expect(submitted.map((task) => task?.timeLimitMs)).toEqual([90_000]);
  await restart();
  polled = [];
  await until(() => polled.length > 0, 'it is polled again');
  expect(shown()).toEqual(expected);
  cancel(id);
  polled = [];
  await until(() => polled.length > 0, 'it is polled until it is gone');
  expect(shown()).toEqual(expected);
});
