import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deploymentSchema, profileSchema } from '../../src/service-client/contract/deployment.ts';
import { runListSchema } from '../../src/service-client/contract/run.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { openService, present, type Asking } from './asking.ts';

const HOOK = 'http://runsheet.invalid/hook/1/batch/1/1/00112233445566778899aabbccddeeff';

async function workflowOf({ ask, deploymentId }: Asking): Promise<string> {
  const answer = await ask('GET', `/api/deployment/${deploymentId}`);
  return present(deploymentSchema.parse(answer.json).workflowId);
}

describe('the run list of a workflow', () => {
  it('pages through all runs, newest first, each once', async () => {
    const asking = await openService({ concurrencyLimit: 1, runSeconds: 3000 });
    const ids: string[] = [];
    for (let i = 0; i < 25; i++) ids.push(await asking.queue());
    const path = `/api/workflow/${await workflowOf(asking)}/runs`;
    const listed: string[] = [];
    for (let offset = 0; ; offset += 10) {
      const { text } = await asking.ask('GET', `${path}?limit=10&offset=${offset}`);
      const page = runListSchema.parse(JSON.parse(text));
      if (page.length === 0) break;
      listed.push(...page.map((run) => run.id));
    }
    expect(listed).toEqual(ids.reverse());
  });

  it('shows 100 runs by default, and refuses a limit that is too large', async () => {
    const asking = await openService({ runSeconds: 3000 });
    await Promise.all(Array.from({ length: 105 }, () => asking.queue()));
    const path = `/api/workflow/${await workflowOf(asking)}/runs`;
    expect(JSON.parse((await asking.ask('GET', path)).text)).toHaveLength(100);
    expect(JSON.parse((await asking.ask('GET', `${path}?limit=`)).text)).toHaveLength(100);
    expect(JSON.parse((await asking.ask('GET', `${path}?limit=10000`)).text)).toHaveLength(105);
    expect((await asking.ask('GET', `${path}?limit=10001`)).status).toBe(422);
  });

  it('returns at most 100 runs per page with the fault short-page, and all runs page by page', async () => {
    const asking = await openService({ runSeconds: 3000 }, { faults: { 'short-page': 1 } });
    await Promise.all(Array.from({ length: 105 }, () => asking.queue()));
    const path = `/api/workflow/${await workflowOf(asking)}/runs`;
    const pageAt = async (offset: number) =>
      runListSchema.parse(JSON.parse((await asking.ask('GET', `${path}?limit=200&offset=${offset}`)).text));
    const [first, second] = [await pageAt(0), await pageAt(100)];
    expect([first.length, second.length]).toEqual([100, 5]);
    expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(105);
  });

  it.each(['184467440737095516', '9007199254740993', '18446744073709551615', '-9223372036854775808'])(
    'shows the seed %s with every digit that was sent',
    async (seed) => {
      const asking = await openService();
      const body = `{"deployment_id": "${asking.deploymentId}", "inputs": {"seed": ${seed}, "deep": [{"n": ${seed}}]}}`;
      const { json } = await asking.ask('POST', '/api/run/deployment/queue', { body });
      const list = await asking.ask('GET', `/api/workflow/${await workflowOf(asking)}/runs?with_inputs=true`);
      const single = await asking.ask('GET', `/api/run/${String(json['run_id'])}`);
      for (const { text } of [list, single]) {
        expect(text).toContain(`"workflow_inputs":{"seed":${seed},"deep":[{"n":${seed}}]}`);
      }
    },
  );
});

describe('deployments', () => {
  it('have case-insensitive ids', async () => {
    const { ask, deploymentId, queue, wire } = await openService();
    expect((await ask('GET', `/api/deployment/${deploymentId.toUpperCase()}`)).status).toBe(200);
    const id = await queue({ deployment_id: deploymentId.toUpperCase() });
    expect((await wire(id.toUpperCase()))['id']).toBe(id);
  });
});

it('the profile shows that this is a rehearsal, and the recommended intervals', async () => {
  const { ask } = await openService();
  expect(profileSchema.parse((await ask('GET', '/api/platform/profile')).json)).toMatchObject({
    rehearsal: true,
    postDeadlineMs: 10_000,
    listGapMs: 1000,
    settleMs: 0,
    settleWithoutControlMs: 3000,
    pollIntervalMs: 250,
  });
});

it('the profile names the service, also after a restart, and no two are called the same', async () => {
  const database = join(freshFolder(), 'runs.db');
  const named = async (file: string): Promise<string | undefined> => {
    const { ask, service } = await openService({}, { database: file });
    const { id } = profileSchema.parse((await ask('GET', '/api/platform/profile')).json);
    await service.close();
    return id;
  };
  const [first, again, third] = [await named(database), await named(database), await named(':memory:')];
  expect([first?.length, again]).toEqual([32, first]);
  expect(third).not.toBe(first);
});

describe('the light list of a workflow', () => {
  it('shows the runs, newest first, filtered by status and time, without inputs and outputs', async () => {
    const asking = await openService({ concurrencyLimit: 3, runSeconds: 1 });
    const bad = await asking.queue({ inputs: { runsheet_faults: 'fail' }, webhook: HOOK });
    const good = await asking.queue();
    await asking.ended(bad);
    await asking.ended(good);
    const path = `/api/v2/workflow/${await workflowOf(asking)}/runs`;
    const ids = async (query: string): Promise<unknown[]> =>
      (JSON.parse((await asking.ask('GET', `${path}?${query}`)).text) as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await ids('')).toEqual([good, bad]);
    expect(await ids('status=failed')).toEqual([bad]);
    expect(await ids(`rf=${Math.floor(Date.now() / 1000) + 60}`)).toEqual([]);
    expect(await ids(`deployment_id=${asking.deploymentId}&limit=1&offset=1`)).toEqual([bad]);
    expect(await ids('deployment_id=3f2b8c1e-5d6a-4b7c-8d9e-0a1b2c3d4e5f')).toEqual([]);
    const [row] = JSON.parse((await asking.ask('GET', path)).text) as Record<string, unknown>[];
    expect(row).toMatchObject({ status: 'success', run_duration: 0.01, batch_id: null });
    for (const heavy of ['workflow_inputs', 'outputs', 'webhook']) expect(row).not.toHaveProperty(heavy);
  });
});
