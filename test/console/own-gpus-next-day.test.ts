// Commands without a run service whose deployment the state folder keeps for the user's own GPUs.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { openFile } from '../../src/run-service/database-file.ts';
import { Console } from './console.ts';

let console: Console;
beforeEach(async () => {
  console = await Console.open();
  vi.stubEnv('RUNSHEET_API_URL', undefined);
  vi.stubEnv('RUNSHEET_API_KEY', undefined);
  const home = join(console.folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const db = openFile(join(home, 'local-service.db'));
  db.prepare('INSERT INTO workflow VALUES (?, ?, 1)').run(
    'id-of-lights',
    '{"name":"lights","seed":18446744073709551615}',
  );
  db.close();
  console.write('lights.csv', 'prompt\na\n');
});

it.each(['lights', 'id-of-lights'])(
  'E305 says that %s runs on own GPUs, with --local',
  async (deployment) => {
    const { code, stderr } = await console.run('run', join(console.folder, 'lights.csv'), '-d', deployment);
    expect(code).toBe(2);
    expect(stderr).toContain(`"${deployment}" runs on your own GPUs`);
    expect(stderr).not.toMatch(/rehearse|costs nothing/);
    expect(stderr).toMatch(new RegExp(`\\n {2}runsheet run \\S+ -d ${deployment} --local\\n$`));
  },
);

it('E305 names its GPUs also for deployments, and a rehearsal for any other deployment', async () => {
  const { stderr } = await console.run('deployments', 'lights');
  expect(stderr).toContain('"lights" runs on your own GPUs');
  const said = await console.run('plan', join(console.folder, 'lights.csv'), '-d', 'portraits');
  expect(said.stderr).toContain('add --local to rehearse');
});
