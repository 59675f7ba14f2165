// Answers of a ComfyUI that are not JSON, not a history entry, not an end or not a file: the run ends or continues, and so does
// its server.

import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { LiveRun } from '../../src/run-service/executors/executor.ts';
import {
  AssignedRun,
  newState,
  noteSocketEvent,
} from '../../src/run-service/executors/driving/assigned-run.ts';
import type { Workflow } from '../../src/run-service/executors/workflow/workflow.ts';
import { serveForTest } from '../stage/serve.ts';
import { until } from '../stage/stage.ts';
import { OwnService, portrait, openStandIn, queueAt, isRunning, openOwn } from './own-service.ts';
import type { ComfyStandIn } from './stand-in.ts';

/** Changes the text of each JSON answer below a path. */
function rewrites(gpu: ComfyStandIn, path: string, change: (text: string) => string): void {
  gpu.alters = ({ url = '' }, truth) =>
    url.startsWith(path) && truth.headers?.['content-type']?.includes('json') === true
      ? { ...truth, body: Buffer.from(change(String(truth.body))) }
      : truth;
}

it('has NaN and Infinity in prompts and classes, as Python writes them', async () => {
  const gpu = await openStandIn();
  const odd = '"is_changed":[NaN,-Infinity,"a \\"NaN","Infinity\\\\"],"class_type"';
  rewrites(gpu, '/', (text) =>
    text.replaceAll('"class_type"', odd).replaceAll('"max":', '"step":Infinity,"max":'),
  );
  const own = await OwnService.of([gpu], portrait({ seconds: 3_600 }));
  const id = await own.queue({});
  await own.until(id, isRunning);
  gpu.wake();
  expect((await own.until(id)).status).toBe('success');
});

describe('an entry of the history that is none', () => {
  it.each([
    ['"outputs":', '"outputs":null,"_":'],
    ['"messages":[', '"messages":["wild",'],
    ['"status":', '"status":7,"_":'],
  ])('ends its run (%s%s)', async (pattern, wild) => {
    const gpu = await openStandIn();
    rewrites(gpu, '/history/', (text) => text.replace(pattern, wild));
    const own = await OwnService.of([gpu]);
    const id = await own.queue({});
    expect((await own.until(id)).status).toBe('failed');
    expect(await own.log(id)).toContain('an entry in its history that cannot be read');
    gpu.alters = (_request, truth) => truth;
    expect((await own.until(await own.queue({}))).status).toBe('success');
  });
});

it('may say more of a run on its websocket than a workflow has outputs', () => {
  const assigned = new AssignedRun({} as LiveRun, {} as Workflow, newState('a'), true);
  const made = (node: string, text: string): void =>
    void noteSocketEvent(
      assigned,
      { kind: 'made', id: 'r', made: [{ node, key: 'text', files: [], texts: [text] }] },
      0,
    );
  for (let nth = 0; nth < 5_000; nth += 1) made(`${nth}`, 'x');
  made('9', 'first');
  made('9', 'second');
  expect(assigned.reported.made.length).toBeLessThanOrEqual(1_000);
  expect(assigned.reported.made.filter(({ node }) => node === '9').map(({ texts }) => texts)).toEqual([
    ['second'],
  ]);
});

it('calls its GPU by a name of some length', async () => {
  const gpu = await openStandIn({ device: `cuda:0 \u001B[31m${'x'.repeat(100_000)}` });
  const own = await OwnService.of([gpu]);
  const run = await own.until(await own.queue({}));
  expect(run.gpu).toMatch(/^ ?\[31mx{40,59}…?$/);
});

it('cannot have executed a run for longer than it had it', async () => {
  const gpu = await openStandIn();
  const began = /("execution_start",\{[^}]*"timestamp":)\d+/;
  rewrites(gpu, '/history/', (text) => text.replace(began, '$1 1'));
  const own = await OwnService.of([gpu]);
  const run = await own.until(await own.queue({}));
  expect([run.status, (run.run_duration ?? -1) >= 0, (run.run_duration ?? 99) < 60]).toEqual([
    'success',
    true,
    true,
  ]);
});

it('is asked again for the nodes that it could not tell, and a run that waits for that says so', async () => {
  const { gpu, own } = await openOwn();
  await gpu.kill();
  for (let time = 0; time < 20; time += 1) gpu.answerNext('/object_info', { done: false, with: 500 });
  const faulty = once(gpu, 'faulty');
  await gpu.start();
  await faulty;
  const id = await own.queue({});
  await own.until(id, ({ live_status }) => live_status?.includes('answered 500') === true);
  expect((await own.until(id)).status).toBe('success');
});

it('executes a run once that it got twice, because a request was late', async () => {
  const { gpu, own } = await openOwn(portrait({ seconds: 3_600 }));
  const [first, second] = [await own.queue({ prompt: 'one' }), await own.queue({ prompt: 'two' })];
  await own.until(first, isRunning);
  await until(async () => (await queueAt(gpu)).includes(second), 'the other one waits');
  const queue = (await (await fetch(`${gpu.url}/queue`)).json()) as Record<
    string,
    [number, string, object][]
  >;
  for (const [, prompt_id, prompt] of Object.values(queue).flat())
    await fetch(`${gpu.url}/prompt`, { method: 'POST', body: JSON.stringify({ prompt, prompt_id }) });
  await until(async () => (await queueAt(gpu)).length === 2, 'each is there once');
  expect(await queueAt(gpu)).toEqual([first, second]);
  for (const id of [first, second]) {
    await own.until(id, isRunning);
    gpu.wake();
    expect((await own.until(id)).status).toBe('success');
  }
  expect(gpu.executions.map(({ prompt_id }) => prompt_id)).toEqual([first, second]);
});

it('cannot send the service to another address for a file', async () => {
  const inner = await serveForTest((_, response) => void response.end('a secret of the inner network'));
  const gpu = await openStandIn();
  gpu.alters = ({ url = '' }, truth) =>
    url.startsWith('/view') ? { status: 302, headers: { location: inner.url } } : truth;
  const own = await OwnService.of([gpu], portrait(), { pollMs: 2 });
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  expect(await own.log(id)).toContain('answered 302');
  expect(inner.asked).toEqual([]);
});

it('may refuse a run at any length, and without a key of ours in the log', async () => {
  const gpu = await openStandIn();
  const details = 'x'.repeat(1 << 20);
  gpu.alters = ({ method, url }, truth) =>
    method === 'POST' && url === '/prompt'
      ? { status: 400, body: Buffer.from(JSON.stringify({ error: { message: 'no\u001B[31m', details } })) }
      : truth;
  const own = await OwnService.of([gpu]);
  const id = await own.queue({});
  expect((await own.until(id)).status).toBe('failed');
  const log = await own.log(id);
  expect(log).toContain('failed validation: no');
  expect([log.length < 5_000, log.includes('\u001B')]).toEqual([true, false]);
});
