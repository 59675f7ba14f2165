// `npm run clients:python`: the vendor's Python client against the local service. By hand, because it needs the Python
// package index and 45 MB of a virtual environment, which lives as long as this script.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deploymentSpecSchema, startLocalService } from '../../src/service/server.ts';

const CLIENT = 'comfydeploy==0.7.0';
const KEY = 'key-of-the-python-client';

const place = mkdtempSync(join(tmpdir(), 'runsheet-python-'));
const python = join(place, 'bin', 'python');
const quick = deploymentSpecSchema.parse({ name: 'quick' });
const slow = deploymentSpecSchema.parse({ name: 'slow', runSeconds: 60_000, runTimeoutSeconds: 90_000 });
const service = await startLocalService({
  port: 0,
  tokens: [KEY],
  speed: 100,
  database: ':memory:',
  deployments: [quick, slow],
  faults: {},
  seed: 1,
});
try {
  await run('python3', ['-m', 'venv', place]);
  await run(python, ['-m', 'pip', 'install', '--quiet', CLIENT]);
  await run(python, [join(import.meta.dirname, 'python-client.py')]);
} finally {
  await service.close();
  rmSync(place, { recursive: true, force: true });
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const env = { ...process.env, BASE: service.base, KEY, QUICK: quick.id, SLOW: slow.id };
  const [code] = await once(spawn(command, args, { env, stdio: 'inherit' }), 'exit');
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}
