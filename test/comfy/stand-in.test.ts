// The stand-in answers as a real ComfyUI did when the recordings were made.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { freshFolder } from '../stage/fresh-folder.ts';
import { openStandIn } from './own-service.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { EXECUTED } from './ordeal.ts';
import { play } from './play.ts';
import { SCRIPTS } from './scripts.ts';
import { type Fault } from './stand-in.ts';

describe('the stand-in answers as ComfyUI', () => {
  it.each(Object.entries(SCRIPTS))('%s', async (name, script) => {
    await using standIn = await openStandIn({ checkpoints: [] });
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
    await using standIn = await openStandIn();
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

  it('wakes what sleeps, also in the moment in which it begins', async () => {
    await using standIn = await openStandIn();
    const ended = once(standIn, 'ended');
    standIn.once('began', () => standIn.wake());
    await post(standIn.url, 'a', graphOf(1, 3600));
    expect(await ended).toMatchObject([{ prompt_id: 'a', nodes: ['1', '2', '3'], end: 'success' }]);
  });

  it('freezes it: requests and events come after the thaw', async () => {
    await using standIn = await openStandIn();
    const begun = once(standIn, 'began');
    await post(standIn.url, 'a', graphOf(1, 3600));
    await begun;
    standIn.freeze();
    const waits = fetch(`${standIn.url}/queue`);
    const asked = fetch(`${standIn.url}/queue`, { signal: AbortSignal.timeout(200) });
    await expect(asked).rejects.toThrow('timeout');
    standIn.freeze();
    standIn.wake();
    expect(standIn.executions.map(({ end }) => end)).toEqual([undefined]);
    const ended = once(standIn, 'ended');
    standIn.thaw();
    await ended;
    expect((await waits).status).toBe(200);
    expect(standIn.executions.map(({ end }) => end)).toEqual(['success']);
  });

  it.each<[string, Fault, number]>([
    ['500 although it was queued', { done: true, with: 500 }, 1],
    ['503 without queueing', { done: false, with: 503 }, 0],
    ['a reset after queueing', { done: true, with: 'reset' }, 1],
    ['a reset before queueing', { done: false, with: 'reset' }, 0],
    ['silence after queueing', { done: true, with: 'silence' }, 1],
    ['half of the answer', { done: true, with: 'half' }, 1],
  ])('spoils one answer: %s', async (_what, fault, queued) => {
    await using standIn = await openStandIn();
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

  it('lets two servers share a folder, where their names go on from each other', async () => {
    await using one = await openStandIn();
    await using other = await openStandIn({ folder: join(one.output, '..') });
    for (const [nth, standIn] of [one, other].entries()) {
      const ended = once(standIn, 'ended');
      await post(standIn.url, 'a', graphOf(nth));
      await ended;
    }
    expect(one.executions[0]?.files).toEqual(['one_00001_.png']);
    expect(other.executions[0]?.files).toEqual(['one_00002_.png']);
  });

  it('asks for a key, and lacks classes', async () => {
    await using standIn = await openStandIn({ authorization: 'Bearer key', without: ['Draw'] });
    const headers = { authorization: 'Bearer key' };
    expect((await fetch(`${standIn.url}/prompt`)).status).toBe(401);
    const described = await fetch(`${standIn.url}/object_info/Draw`, { headers });
    expect(await described.json()).toEqual({});
    const foreign = { ...headers, origin: 'https://example.com' };
    expect((await fetch(`${standIn.url}/prompt`, { headers: foreign })).status).toBe(403);
  });

  it('runs it as a process, which writes what it executes', async () => {
    const folder = freshFolder();
    const program = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), folder]);
    const [line] = (await once(program.stdout, 'data')) as [Buffer];
    const url = line.toString().trim();
    await post(url, 'a', graphOf(1, 3600));
    await vi.waitFor(async () => expect(await json(`${url}/queue`)).toHaveProperty('queue_running.0.1', 'a'));
    program.kill('SIGKILL');
    await once(program, 'exit');
    expect(readFileSync(join(folder, 'output', EXECUTED), 'utf8')).toBe('a\n');
  });

  it('knows the colour of a drawing', async () => {
    await using standIn = await openStandIn();
    const ended = once(standIn, 'ended');
    const drawing = { class_type: 'Draw', inputs: { text: 'a cat', seed: 7, style: 'plain' } };
    const save = { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'one' } };
    await post(standIn.url, 'a', { 1: drawing, 2: save });
    await ended;
    expect(colourOf(readFileSync(join(standIn.output, 'one_00001_.png')))).toBe(drawnColour('a cat', 7));
  });
});
