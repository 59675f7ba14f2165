import { expect, it } from 'vitest';
import { startService, type RunningService } from '../../src/run-service/start-service.ts';

const ask = ({ url, apiKey }: RunningService, path: string): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } });

const namesIn = async (response: Response): Promise<readonly string[]> =>
  ((await response.json()) as { name?: string; workflow?: { name: string } }[]).map(
    ({ name, workflow }) => name ?? workflow?.name ?? '',
  );

it('a program has a run service with the usual deployments, and its key', async () => {
  await using service = await startService();
  expect(await namesIn(await ask(service, '/deployments'))).toContain('portraits');
  expect((await ask({ ...service, apiKey: 'another' }, '/deployments')).status).toBe(401);
});

it('a program has a run service with deployments of its own, until it closes it', async () => {
  const service = await startService({
    deployments: [{ name: 'posters', runSeconds: 0 }],
    apiKey: 'k'.repeat(20),
  });
  expect(service.apiKey).toBe('k'.repeat(20));
  expect(await namesIn(await ask(service, '/deployments'))).toEqual(['posters']);
  await service.close();
  await expect(ask(service, '/deployments')).rejects.toThrow('fetch failed');
});

it('a program is told which options its run service does not take', async () => {
  await expect(startService({ speed: 0 })).rejects.toMatchObject({ code: 'E602' });
  await expect(startService({ faults: { 'drop-anwser': 1 } })).rejects.toMatchObject({ code: 'E602' });
  const workflow = { name: 'posters', workflow: 'posters.json' };
  await expect(startService({ deployments: [workflow] })).rejects.toMatchObject({ code: 'E602' });
  await expect(startService({ deployments: [{ name: '' }] })).rejects.toMatchObject({ code: 'E602' });
});
