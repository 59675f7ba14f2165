// Whole batches through a Comfy API, with the command that a user types. The stand-in counts what was executed.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { numbersFrom } from '../../src/run-service/chance.ts';
import { Stage } from '../stage/stage.ts';
import { ApiStandIn, type Loss } from './api-stand-in.ts';
import type { Mode } from './api-surfaces.ts';
import { openStandIn, portrait } from './own-service.ts';

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  stage.environment = { ...stage.environment, RUNSHEET_HOME: stage.path('home') };
});
afterEach(() => stage.close());

const openApi = async (mode: Mode, workers: number): Promise<ApiStandIn> =>
  ApiStandIn.of(mode, await Promise.all(Array.from({ length: workers }, () => openStandIn())));

/** The command for a batch of as many rows, each of so many seconds. */
function commandFor(rows: number, seconds: number): readonly string[] {
  const workflow = stage.write('portrait_api.json', JSON.stringify(portrait({ seconds })));
  const lines = Array.from({ length: rows }, (_, at) => `fox ${at},${at}`);
  const sheet = stage.write('sheet.csv', `prompt,3.seed\n${lines.join('\n')}\n`);
  return ['run', sheet, '--workflow', workflow];
}

const timesOf = ({ executions }: ApiStandIn, prompt: string): number =>
  executions.filter(({ graph: { 3: node } }) => node?.inputs['text'] === prompt).length;

describe('-c 10', () => {
  it.each([
    ['that grow', ''],
    ['of which the user says that there are twenty', '20x='],
  ])('uses ten places of a deployment %s', async (_, prefix) => {
    const api = await openApi('deployment', 12);
    const together: number[] = [];
    const look = setInterval(() => together.push(api.hosted.running), 20);
    const command = commandFor(10, 4);
    const { code } = await stage.start([...command, '--comfy-api', `${prefix}${api.url}`, '-c', '10']).ended;
    clearInterval(look);
    expect([code, api.executions.length, Math.max(...together)]).toEqual([0, 10, 10]);
    // The runs take 40 s one after another, and 20 s two at a time.
    const [first, last] = [together.findIndex(Boolean), together.findLastIndex(Boolean)];
    expect((last - first) * 20).toBeLessThan(12_000);
  });
});

it('a deployment that is stopped pauses the batch and fails no row; the printed command goes on once it runs', async () => {
  const api = await openApi('deployment', 4);
  api.hosted.rules.state = 'stopped';
  const paused = await stage.start([...commandFor(12, 0.1), '--comfy-api', api.url, '-c', '4']).ended;
  expect(paused.stderr).toMatch(/is paused: .*deployment_stopped: the deployment is stopped/);
  expect(api.executions).toEqual([]);
  const [, printed = ''] = /then: runsheet (resume \S+)/.exec(paused.stderr) ?? [];
  api.hosted.rules.state = 'ready';
  const { code } = await stage.start(printed.split(' ')).ended;
  const outcomes = stage.results().map(({ outcome }) => outcome);
  expect([code, outcomes, api.executions.length]).toEqual([0, outcomes.map(() => 'succeeded'), 12]);
});

describe('thirty rows, while requests and answers are lost at random,', () => {
  const LOSSES: readonly Loss[] = ['everything', 'the answer', 'the request'];

  it.each(['deployment', 'cloud', 'proxy'] as const)(
    'are each bought once at a %s, and delivered or unknown',
    async (mode) => {
      const api = await openApi(mode, mode === 'proxy' ? 1 : 6);
      const [question, submission] = [numbersFrom(7), numbersFrom(8)];
      let isBegun = false;
      api.drops = ({ method, path }) => {
        const isSubmission = method === 'POST' && path.endsWith('/jobs');
        // A server that does not answer at the start is no server (E614).
        isBegun ||= isSubmission;
        if (!isBegun) return undefined;
        const [next, share] = isSubmission ? [submission, 0.3] : [question, 0.1];
        return next() < share ? LOSSES[Math.floor(next() * LOSSES.length)] : undefined;
      };
      await stage.start([...commandFor(30, 0.2), '--comfy-api', api.url, '-c', '15']).ended;
      const results = stage.results();
      const rows = results.map(({ outcome = '', prompt = '' }) => ({ outcome, times: timesOf(api, prompt) }));
      const unknown = rows.filter(({ outcome }) => outcome === 'unknown');
      const delivered = rows.filter(({ outcome, times }) => outcome === 'succeeded' && times === 1);
      expect([unknown.length + delivered.length, rows.length]).toEqual([30, 30]);
      expect(unknown.filter(({ times }) => times > 1)).toEqual([]);
      // A deployment's list proves which runs exist; elsewhere, only runs whose answer was lost are unknown.
      expect(api.unheard.size).toBeGreaterThan(0);
      expect(unknown.length).toBeLessThanOrEqual(mode === 'deployment' ? 0 : api.unheard.size);
    },
    900_000,
  );
});
