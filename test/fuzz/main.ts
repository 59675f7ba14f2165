// npm run fuzz [-- --examples 200] [-- --seed 7]: lets schemathesis, which we did not write, ask a fresh local service
// whatever its OpenAPI document allows and forbids, once in each behaviour. Ends with 1 where it found anything.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEMO_DEPLOYMENTS, startLocalService, type BehaviourName } from '../../src/service/server.ts';

const VERSION = '4.32.5';
const TOKEN = 'fuzzed-token';

const { values } = parseArgs({
  options: { examples: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const program = install();

/** The program, in a place of its own in the user's cache. */
function install(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const place = join(cache, 'runsheet', `schemathesis-${VERSION}`);
  const installed = join(place, 'bin', 'schemathesis');
  if (existsSync(installed)) return installed;
  execFileSync('python3', ['-m', 'venv', place], { stdio: 'inherit' });
  const pip = spawnSync(join(place, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`], {
    stdio: 'inherit',
  });
  if (pip.status !== 0) {
    rmSync(place, { recursive: true, force: true });
    throw new Error('schemathesis could not be installed: is the Python package index reachable?');
  }
  return installed;
}

async function fuzz(behaviour: BehaviourName): Promise<number> {
  const service = await startLocalService({
    port: 0,
    tokens: [TOKEN],
    speed: 50,
    database: ':memory:',
    deployments: DEMO_DEPLOYMENTS,
    faults: {},
    behaviour,
    seed: 1,
  });
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-fuzz-'));
  try {
    const config = join(folder, 'schemathesis.toml');
    writeFileSync(config, configOf(await idsAt(service.base)));
    return await run(folder, [
      '--config-file',
      config,
      'run',
      `${service.base}/openapi.json`,
      '--header',
      `Authorization: Bearer ${TOKEN}`,
      '--max-examples',
      values.examples,
      '--seed',
      values.seed,
    ]);
  } finally {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Ids = Readonly<Record<'run_id' | 'deployment_id' | 'workflow_id', readonly string[]>>;

/** Ids that exist, so that more than refusals is seen. */
async function idsAt(base: string): Promise<Ids> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const deployments = (await (await fetch(`${base}/deployments`, { headers })).json()) as {
    id: string;
    workflow_id: string;
  }[];
  const runs = deployments.map(async ({ id }) => {
    const body = JSON.stringify({ deployment_id: id });
    const answer = await fetch(`${base}/run/deployment/queue`, { method: 'POST', headers, body });
    return ((await answer.json()) as { run_id: string }).run_id;
  });
  return {
    run_id: await Promise.all(runs),
    deployment_id: deployments.map(({ id }) => id),
    workflow_id: deployments.map((one) => one.workflow_id),
  };
}

/** Half of the ids that are drawn exist. V1 says with 500 and 400 what is wrong with a request: no fault of the service. */
const configOf = (ids: Ids): string => `
${Object.entries(ids)
  .map(([name, list]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(list)}\n`)
  .join('')}
[parameters]
${['path.run_id', 'query.run_id', 'path.deployment_id', 'body.deployment_id', 'path.workflow_id']
  .map((place) => `"${place}" = { dictionary = "${place.split('.')[1]}", probability = 0.5 }`)
  .join('\n')}

[[operations]]
include-path-regex = "^/v1/"
checks.not_a_server_error.enabled = false
checks.positive_data_acceptance.enabled = false

# It has no end.
[[operations]]
include-path-regex = "stream-logs$"
request-timeout = 1.0
`;

const run = (folder: string, words: readonly string[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd: folder, stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });

const ends: number[] = [];
for (const behaviour of ['specification', 'vendor'] as const) ends.push(await fuzz(behaviour));
process.exitCode = ends.every((end) => end === 0) ? 0 : 1;
