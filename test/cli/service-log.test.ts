// The log of a run service as an operator reads it at the default level.

import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';
import { KEY, until } from '../stage/stage.ts';

const stage = freshStage();

it('a fault of the run service that answers a request with 500 is in its log, with its place in the code', async () => {
  let service = await stage.service(['--speed', '1000']);
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const ask = (path: string, body?: object): Promise<Response> =>
    fetch(`${service.base}${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
  const [deployment] = (await (await ask('/deployments')).json()) as readonly { readonly id: string }[];
  const queued = await ask('/run/deployment/queue', { deployment_id: deployment?.id, inputs: {} });
  const { run_id: id } = (await queued.json()) as { readonly run_id: string };
  const hasEnded = async (): Promise<boolean> =>
    ((await (await ask(`/run/${id}`)).json()) as { readonly ended_at: string | null }).ended_at !== null;
  await until(hasEnded, 'the run has ended');
  await service.kill('SIGTERM');
  const database = new DatabaseSync(stage.path('service.db'));
  database.prepare("UPDATE run SET inputs = '{' WHERE id = ?").run(id);
  database.close();
  service = await stage.service();
  expect((await ask(`/run/${id}`)).status).toBe(500);
  await until(() => service.stderr.includes('"msg":"error"'), 'the fault is logged');
  const line = service.stderr.split('\n').find((text) => text.includes('"msg":"error"')) ?? '';
  expect(JSON.parse(line)).toMatchObject({ method: 'GET', path: '/api/run/:run_id', level: 50 });
  expect(line).toMatch(/SyntaxError.*at recordOf \([^)]*\.[jt]s/);
});
