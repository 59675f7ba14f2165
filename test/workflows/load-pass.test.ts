// Loading the rows of a pass for a batch of each version: only version 4 pauses when the store fails.

import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { PASS, type Event } from '../../src/batch/events.ts';
import { begin } from '../../src/batch/state/state.ts';
import { execute, type CommandContext } from '../../workflows/execute-command.ts';
import { paramsOf } from '../batch/params.ts';

/** Reads pass 2; `inputs` get what the activity was given. */
function load(version: number, inputs: object[], error?: Error): Promise<Event | undefined> {
  const loadPass = async (input: object) => {
    inputs.push(input);
    if (error !== undefined) throw error;
    return { segments: [] };
  };
  const context = { runtime: { activities: { loadPass } }, state: begin(paramsOf(), version, 1) };
  return execute(context as unknown as CommandContext, { type: 'loadPass', pass: 2 });
}

it.each([
  [3, { pass: 2 }],
  [4, { pass: 2, mayPause: true }],
])('version %i asks the activity for %j', async (version, input) => {
  const inputs: object[] = [];
  expect(await load(version, inputs)).toEqual({ type: 'passLoaded', pass: 2, segments: [] });
  expect(inputs).toEqual([input]);
});

it('a store that does not show the pass is an event of the batch', async () => {
  const cause = ApplicationFailure.nonRetryable('EIO', 'StoreFailed');
  const error = new ActivityFailure('failed', 'loadPass', '1', 'NON_RETRYABLE_FAILURE', undefined, cause);
  expect(await load(4, [], error)).toEqual({ type: 'storeFailed', item: PASS, reason: 'EIO' });
});
