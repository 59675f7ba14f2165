// Every field that the contract of the Comfy API v2 leaves optional may be missing, alone or with others: what is definite stays so.

import { describe, expect, it } from 'vitest';
import { until } from '../stage/stage.ts';
import { openApiScene } from './api-scene.ts';
import type { Asked } from './api-stand-in.ts';
import { colourOf } from './image-files.ts';
import { drawnColour } from './node-classes.ts';
import { isDoubtful, portrait, type Run } from './own-service.ts';

type Fields = Readonly<Record<string, unknown>>;

/** `list.next_cursor`: the parts of bodies, and what may be missing in each. Nullable ones are null. */
const OPTIONAL = {
  error: ['details'],
  job: ['metrics', 'metadata', 'outputs_reused'],
  null: ['started_at', 'completed_at', 'queue_position', 'progress', 'error'],
  output: ['job_id'],
  'job.error': ['node_id', 'class_type', 'traceback'],
  item: ['create_time', 'created_at', 'update_time', 'deployment_id', 'workflow', 'metadata'],
  list: ['next_cursor', 'truncated'],
  asset: ['file_path', 'created_new', 'expires_at', 'job_id'],
} as const;
export const NAMES = Object.entries(OPTIONAL).flatMap(([part, fields]) =>
  fields.map((field) => `${part}.${field}`),
);

/** Without these fields; and with one that no release knows, because the contract only grows. */
export function dropped(body: object, gone: ReadonlySet<string>): object {
  const without = (part: string, fields: unknown): unknown => {
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return fields;
    const kept = Object.entries(fields).filter(([name]) => !gone.has(`${part}.${name}`));
    return { ...Object.fromEntries(kept), grown: { by: 'a release' } };
  };
  const { error, jobs, urls, size_bytes, outputs } = body as Fields;
  if (Array.isArray(jobs))
    return without('list', { ...body, jobs: jobs.map((job) => without('item', job)) }) as object;
  if (size_bytes !== undefined) return without('asset', body) as object;
  if (urls === undefined) return { error: without('error', error) };
  const nulls = Object.keys(body).filter(
    (name) => gone.has(`null.${name}`) && (name !== 'error' || error === null),
  );
  return without('job', {
    ...body,
    outputs: (outputs as readonly object[]).map((output) => without('output', output)),
    error: without('job.error', error),
    ...Object.fromEntries(nulls.map((name) => [name, null])),
  }) as object;
}

export const MODES = ['deployment', 'cloud', 'proxy'] as const;

export const runsWithoutFields = (subsets: readonly (readonly string[])[]): void =>
  describe.each(MODES)('without optional fields, a %s', (mode) => {
    it('delivers, fails and refuses what it should, and buys each run once', async () => {
      const graph = portrait();
      const { own, api, gpu } = await openApiScene(mode, graph, { spentMs: 60, provedMs: 90, lateMs: 20 });
      gpu.breaks = (text) => text.startsWith('broken');
      const timesOf = (text: string): number =>
        api.executions.filter(({ graph: { 3: node } }) => node?.inputs['text'] === text).length;
      for (const [at, names] of subsets.entries()) {
        const gone = new Set(names);
        api.altersBody = (body: object, _asked: Asked) => dropped(body, gone);
        const queue = (prompt: string, more: object = {}) =>
          own.queue({ prompt: `${prompt} ${at}`, ...more });

        const good = await own.until(await queue('owl'));
        expect([names, good.status]).toEqual([names, 'success']);
        expect(colourOf(await own.picture(good))).toBe(drawnColour(`owl ${at}`, 1));

        const broken = await queue('broken');
        expect([names, (await own.until(broken)).status]).toEqual([names, 'failed']);
        expect(await own.log(broken)).toContain('injected failure');

        const refused = await queue('refused', { '3.style': 'none of its styles' });
        expect([names, (await own.until(refused)).status]).toEqual([names, 'failed']);
        expect(await own.log(refused)).toContain('failed validation: answered 422 invalid_workflow');

        api.loses = 'the answer';
        const isOver = (run: Run): boolean => run.ended_at !== null || isDoubtful(run);
        const lost = await own.until(await queue('lost'), isOver);
        // Without its label in the list, nobody can find it.
        const isFound = mode !== 'cloud' && !gone.has('item.metadata');
        expect([names, lost.status]).toEqual([names, isFound ? 'success' : 'timeout']);
        await until(() => timesOf(`lost ${at}`) === 1, 'it is executed');

        const times = ['owl', 'broken', 'refused', 'lost'].map((text) => timesOf(`${text} ${at}`));
        expect([names, times]).toEqual([names, [1, 1, 0, 1]]);
      }
    });
  });
