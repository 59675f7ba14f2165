// The pages whose commands are run, with what each supposes that its reader has.

import { readFile } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { packed } from '../stage/packed.ts';
import { portrait } from '../comfy/own-service.ts';
import { textRow, workbook } from '../sheet/xlsx/workbooks.ts';
import { KEY } from '../stage/stage.ts';
import { SHOPIFY } from '../sheet/shopify.ts';
import { blockWith } from './page-commands.ts';
import { freePort } from '../stage/free-port.ts';
import { openReplicate } from '../vendors/replicate.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

export type PastedPage = {
  readonly path: string;
  /** Files that the page supposes. */
  readonly files?: (page: string) => Files | Promise<Files>;
  /** Commands that came before. */
  readonly first?: readonly string[];
  /** Preparations to repeat before a command. */
  readonly before?: Readonly<Record<string, string>>;
  /** Exit codes other than 0. */
  readonly codes?: Readonly<Record<string, number>>;
  /** Replacements in the test: ports of this machine, addresses of others. */
  readonly instead?: (of: {
    readonly folder: string;
    readonly comfyui: string;
    readonly base: string;
  }) => Promise<Readonly<Record<string, string>>>;
};

/** The value of the first key with which the command begins, or, between two stars, which it has. */
export const valueFor = <T>(table: Readonly<Record<string, T>>, command: string): T | undefined =>
  Object.entries(table).find(([key]) =>
    key.startsWith('*')
      ? command.includes(key.slice(1, -1))
      : key.endsWith('"')
        ? command === key.slice(0, -1)
        : command.startsWith(key),
  )?.[1];

const PROMPTS = 'sku,prompt\nSKU-0016,a red cup\nSKU-0017,a wooden bowl\n';
const SLOW = 'runsheet submit slow.csv -d slow --again > /dev/null 2>&1';

/** A server of Temporal beside the servers of the page. */
const CLUSTER = `TEMPORAL_ADDRESS=127.0.0.1:$(node -e 'const s=net.createServer().listen(0,()=>{console.log(s.address().port);s.close()})')
export TEMPORAL_ADDRESS
~/.cache/runsheet/temporal-*/temporal server start-dev --headless --port "\${TEMPORAL_ADDRESS#*:}" > temporal.log 2>&1 &
timeout 240 grep -m1 -q 'Server: ' <(tail -n +1 -F temporal.log 2> /dev/null)`;

/** The workflow whose input the page calls by the number of its node. */
const NUMBERED = JSON.stringify(portrait()).replace('"3":{', '"6":{').replace('["3",', '["6",');

export const PASTED_PAGES: readonly PastedPage[] = [
  {
    path: 'README.md',
    files: (page) => ({
      'prompts.csv': blockWith(page, '', 'sku,product'),
      'jobs/nightly.job.toml': blockWith(page, 'toml', 'deployment'),
      'jobs/catalogue.csv': PROMPTS,
      'generate.py': "open('answer.txt', 'w').write('done')\n",
      'key.txt': 'key-of-a-test\n',
    }),
    first: ['runsheet dev'],
    instead: async () => {
      const vendor = await openReplicate();
      onTestFinished(() => vendor.close());
      const model = '--model replicate:black-forest-labs/flux-schnell';
      const run = 'runsheet run prompts.csv --key sku';
      return {
        [`${run} ${model}`]: `RUNSHEET_REPLICATE_URL=${vendor.url} ${run} --model replicate:${vendor.model}`,
        'python generate.py': 'python3 generate.py',
      };
    },
  },
  {
    path: 'docs/guide/sheets.md',
    files: async () => ({
      'prompts.xlsx': await readFile(
        await workbook({ rows: textRow('sku', 'prompt') + textRow('SKU-0017', 'a wooden bowl') }),
      ),
      'prompts.txt': 'a fox\nan owl\n',
    }),
    first: ['runsheet dev'],
  },
  {
    path: 'docs/guide/recipes.md',
    files: (page) => ({
      'products_export.csv': SHOPIFY,
      'shop.job.toml': blockWith(page, 'toml', 'deployment'),
    }),
    first: ['runsheet dev'],
  },
  {
    path: 'docs/guide/running.md',
    files: () => ({
      'slow.csv': PROMPTS,
      'failing.csv': 'sku,prompt,runsheet_faults\nSKU-0016,a red cup,fail\nSKU-0017,a wooden bowl,\n',
      'more.csv': 'sku,prompt,runsheet_faults\nSKU-0018,a vase,\n',
    }),
    first: ['runsheet dev', 'runsheet run failing.csv -d portrait-v3 --retries 0'],
    before: {
      'runsheet pause': SLOW,
      'runsheet scale': SLOW,
      'runsheet retry': 'runsheet run failing.csv -d portrait-v3 --retries 0 --again > /dev/null 2>&1',
    },
  },
  {
    path: 'docs/schedules.md',
    files: () => ({
      'catalogue.csv': PROMPTS,
      'jobs/catalogue.csv': PROMPTS,
      'jobs/weekly.job.toml':
        'sheet = "catalogue.csv"\ndeployment = "portraits"\nkey = "sku"\n[schedule]\ncron = "0 3 * * 1"\n',
    }),
    first: ['runsheet dev'],
  },
  {
    path: 'docs/guide/results.md',
    files: () => ({ 'prompts.csv': PROMPTS, 'picks.csv': 'key\nSKU-0016\n' }),
    first: [
      'runsheet dev',
      'runsheet run prompts.csv -d portrait-v3 --name portraits-7f3a',
      'runsheet run prompts.csv -d portrait-v3 --name portraits-99ab --again',
    ],
  },
  {
    path: 'docs/guide/settings.md',
    files: (page) => ({
      'home/.config/runsheet/config.toml': blockWith(page, 'toml', 'service.production'),
    }),
    before: { 'runsheet worker': CLUSTER },
    // Services of two names have two addresses.
    instead: async ({ base }) => ({
      'https://runs.example.com/api': base.replace('127.0.0.1', 'localhost'),
      'https://staging.example.com/api': 'http://127.0.0.1:9/api',
    }),
  },
  {
    path: 'docs/own-gpus.md',
    files: (page) => ({
      'prompts.csv': blockWith(page, '', 'a fox in the snow'),
      'nightly.job.toml': blockWith(page, 'toml', 'comfyui'),
    }),
    first: ['runsheet dev'],
  },
  {
    path: 'docs/local-service.md',
    files: (page) => ({
      'prompts.csv': PROMPTS,
      'portrait_api.json': NUMBERED,
      'deployments.json': blockWith(page, 'json', 'portrait_api.json'),
      keys: `ann:${KEY}\n`,
    }),
    instead: async ({ comfyui }) => {
      const port = String(await freePort());
      return {
        '--host 0.0.0.0 --port 8080': `--host 0.0.0.0 --port ${port}`,
        'https://runs.studio.example': `http://127.0.0.1:${port}`,
        'http://gpu-1:8188': comfyui,
        ' --comfyui http://gpu-2:8188': '',
      };
    },
  },
  {
    path: 'docs/applications.md',
    files: () => {
      packed();
      return {};
    },
    before: {
      'temporal workflow start':
        'RUNSHEET_SHEETS=$PWD node examples/worker.ts pipeline > pipeline.log 2>&1 &\ntimeout 240 grep -m1 -q ready <(tail -n +1 -F pipeline.log 2> /dev/null)',
    },
    instead: async ({ folder }) => {
      const [temporal, service] = [await freePort(), String(await freePort())];
      return {
        'server start-dev': `server start-dev --headless --port ${temporal}`,
        'alias temporal=': `export TEMPORAL_ADDRESS=127.0.0.1:${temporal}; alias temporal=`,
        'RUNSHEET_SHEETS=/tmp node': `RUNSHEET_SHEETS=${folder} TEMPORAL_ADDRESS=127.0.0.1:${temporal} node`,
        '"folder":"/tmp"': `"folder":"${folder}"`,
        '8900': service,
      };
    },
  },
];
