// The stand-in answers as a real ComfyUI did when the recordings were made.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStandIn } from './own-service.ts';
import { play } from './play.ts';
import { SCRIPTS } from './scripts.ts';
import { type Fault } from './stand-in.ts';

describe('the stand-in answers as ComfyUI', () => {
  it.each(Object.entries(SCRIPTS))('%s', async (name, script) => {
    const standIn = await openStandIn({ checkpoints: [] });
    const recording: unknown = JSON.parse(
      readFileSync(join(import.meta.dirname, 'recordings', `${name}.json`), 'utf8'),
    );
    expect(await play(script, standIn.url)).toEqual(recording);
  });
});

/** A picture that takes `seconds` in one step. */
function graphOf(color: number, seconds = 0): object {
  return {
    1: { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color } },
    2: { class_type: 'Sleep', inputs: { image: ['1', 0], seconds, steps: 1 } },
    3: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'one' } },
  };
}

const post = (url: string, prompt_id: string, prompt: object): Promise<Response> =>
  fetch(`${url}/prompt`, { method: 'POST', body: JSON.stringify({ prompt, prompt_id }) });

async function json(url: string): Promise<unknown> {
  return (await fetch(url)).json();
}

describe('a test', () => {
  it('kills it: all is forgotten but the files, and what ran has no end', async () => {
    const standIn = await openStandIn();
    const { url } = standIn;
    const ended = once(standIn, 'ended');
    await post(url, 'a', graphOf(1));
    await ended;
    const begun = once(standIn, 'began');
    await post(url, 'b', graphOf(2, 3600));
    await post(url, 'c', graphOf(3));
    await begun;
    await standIn.kill();
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    await standIn.start();
    expect(standIn.url).toBe(url);
    expect(await json(`${url}/history`)).toEqual({});
    expect(await json(`${url}/queue`)).toEqual({ queue_running: [], queue_pending: [] });
    expect((await fetch(`${url}/view?filename=one_00001_.png`, { method: 'HEAD' })).status).toBe(200);
    expect(standIn.executions.map(({ prompt_id, end }) => [prompt_id, end])).toEqual([
      ['a', 'success'],
      ['b', undefined],
    ]);
  });

  it.each<[string, Fault, number]>([
    ['500 although it was queued', { done: true, with: 500 }, 1],
    ['503 without queueing', { done: false, with: 503 }, 0],
    ['a reset after queueing', { done: true, with: 'reset' }, 1],
    ['a reset before queueing', { done: false, with: 'reset' }, 0],
    ['silence after queueing', { done: true, with: 'silence' }, 1],
    ['half of the answer', { done: true, with: 'half' }, 1],
  ])('spoils one answer: %s', async (_what, fault, queued) => {
    const standIn = await openStandIn();
    standIn.answerNext('/prompt', fault);
    const faulty = once(standIn, 'faulty');
    const answer = post(standIn.url, 'a', graphOf(1, 3600))
      .then(async (response) => [response.status, await response.text()])
      .catch(() => 'broken');
    await faulty;
    expect(await json(`${standIn.url}/prompt`)).toEqual({ exec_info: { queue_remaining: queued } });
    if (fault.with === 'silence') await standIn.kill();
    expect(await answer).toEqual(typeof fault.with === 'number' ? [fault.with, 'spoilt'] : 'broken');
  });
});
