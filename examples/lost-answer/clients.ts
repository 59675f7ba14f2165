// The official clients of hosted vendors, and how each asks for one generation as its own first example does. Each snippet reads the
// address of the server from BASE, and ends when its client gives up.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Client = {
  readonly package: string;
  readonly version: string;
  readonly registry: 'npm' | 'PyPI';
  readonly snippet: string;
};

export const CLIENTS: readonly Client[] = [
  {
    package: 'fal_client',
    version: '1.0.3',
    registry: 'PyPI',
    // The client has no option for an address other than https://queue.fal.run.
    snippet: `import fal_client.client as fal
fal.QUEUE_URL_FORMAT = base + "/"
fal.SyncClient(key="key").submit("fal-ai/flux/dev", arguments={"prompt": "an owl"})`,
  },
  {
    package: 'replicate',
    version: '1.4.0',
    registry: 'npm',
    snippet: `import Replicate from 'replicate';
await new Replicate({ auth: 'key', baseUrl: base }).run('black-forest-labs/flux-dev', { input: { prompt: 'an owl' } });`,
  },
  {
    package: '@fal-ai/client',
    version: '1.10.1',
    registry: 'npm',
    snippet: `import { createFalClient } from '@fal-ai/client';
const toServer = async (request) => ({ ...request, url: request.url.replace('https://queue.fal.run', base) });
const fal = createFalClient({ credentials: 'key', requestMiddleware: toServer });
await fal.queue.submit('fal-ai/flux/dev', { input: { prompt: 'an owl' } });`,
  },
  {
    package: 'openai',
    version: '3.57.0',
    registry: 'PyPI',
    snippet: `from openai import OpenAI
OpenAI(api_key="key", base_url=base).images.generate(model="gpt-image-1", prompt="an owl")`,
  },
  {
    package: 'openai',
    version: '7.59.0',
    registry: 'npm',
    snippet: `import OpenAI from 'openai';
await new OpenAI({ apiKey: 'key', baseURL: base }).images.generate({ model: 'gpt-image-1', prompt: 'an owl' });`,
  },
  {
    package: 'replicate',
    version: '1.0.7',
    registry: 'PyPI',
    snippet: `import replicate
replicate.Client(api_token="key", base_url=base).run("black-forest-labs/flux-dev", input={"prompt": "an owl"})`,
  },
  {
    package: 'runpod',
    version: '1.12.0',
    registry: 'PyPI',
    snippet: `import runpod
runpod.api_key, runpod.endpoint_url_base = "key", base
runpod.Endpoint("endpoint").run({"input": {"prompt": "an owl"}})`,
  },
  {
    package: 'runpod-sdk',
    version: '1.1.2',
    registry: 'npm',
    snippet: `import runpod from 'runpod-sdk';
await runpod('key', { baseUrl: base }).endpoint('endpoint').run({ input: { prompt: 'an owl' } });`,
  },
  {
    package: 'comfy-sdk',
    version: '0.5.0',
    registry: 'PyPI',
    snippet: `import os
os.environ["COMFY_BASE_URL"] = os.environ["COMFY_ROUTER_BASE_URL"] = base
from comfy_sdk import Comfy
Comfy(api_key="comfyui-key").models.submit("bfl/flux-2-pro", {"prompt": "an owl"})`,
  },
];

/** Installed clients: runs one snippet against a server, or says why its registry has none here. */
export type InstalledClients = {
  readonly missing: Readonly<Record<Client['registry'], string | undefined>>;
  run(client: Client, base: string): Promise<void>;
};

const PATIENCE_MS = 150_000;

/** Installs the clients of these registries into a folder of this user that later calls find again. */
export async function installClients(registries: readonly Client['registry'][]): Promise<InstalledClients> {
  const folder = privateFolder(`runsheet-lost-answer-${process.getuid?.() ?? 'user'}`);
  const python = join(folder, 'python', 'bin', 'python');
  const install = async (
    registry: Client['registry'],
    commands: (packages: readonly string[]) => readonly (readonly [string, ...string[]])[],
  ): Promise<string | undefined> => {
    if (!registries.includes(registry)) return 'not asked for';
    const separator = registry === 'npm' ? '@' : '==';
    const packages = CLIENTS.filter((client) => client.registry === registry).map(
      (client) => `${client.package}${separator}${client.version}`,
    );
    const done = join(folder, `${registry}-${packages.join('-').replaceAll(/[^\w.-]/g, '_')}`);
    if (existsSync(done)) return undefined;
    console.error(`installing from ${registry} into ${folder}: ${packages.join(' ')} …`);
    for (const [program, ...args] of commands(packages)) {
      const failure = await ended(program, args, folder);
      if (failure !== undefined) return failure;
    }
    writeFileSync(done, '');
    return undefined;
  };
  const missing = {
    npm: await install('npm', (packages) => [
      ['npm', 'install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', ...packages],
    ]),
    PyPI: await install('PyPI', (packages) => [
      ['python3', '-m', 'venv', join(folder, 'python')],
      [python, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...packages],
    ]),
  };
  return {
    missing,
    run: async ({ registry, snippet }, base) => {
      const environment = { BASE: base, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };
      await (registry === 'npm'
        ? ended(
            process.execPath,
            ['--input-type=module', '-e', `const base = process.env.BASE;\n${snippet}`],
            folder,
            environment,
          )
        : ended(python, ['-c', `import os\nbase = os.environ["BASE"]\n${snippet}`], folder, environment));
    },
  };
}

/** A folder in the temporary folder that belongs to this user alone, because programs are started from it. */
function privateFolder(name: string): string {
  const folder = join(tmpdir(), name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(folder);
  const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
  if (!isOwn) throw new Error(`${folder} belongs to another user: remove it, or set TMPDIR`);
  return folder;
}

/** Waits for the end of a program; returns the last line of its errors if it fails. */
async function ended(
  program: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const child = spawn(program, args, {
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
    timeout: Object.keys(environment).length === 0 ? 0 : PATIENCE_MS,
  });
  let errors = '';
  child.stderr.on('data', (text) => (errors = `${errors}${text}`.slice(-2_000)));
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code === 0 ? undefined : (errors.trim().split('\n').at(-1) ?? `${program} ended with ${code}`);
  } catch (error) {
    return `${program}: ${(error as Error).message}`;
  }
}
