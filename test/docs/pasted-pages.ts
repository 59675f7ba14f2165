// The pages whose commands are run, with what each supposes that its reader has.

import { readFile } from 'node:fs/promises';
import { textRow, workbook } from '../sheet/xlsx/workbooks.ts';
import { blockWith } from './page-commands.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;

export type PastedPage = {
  readonly path: string;
  /** Files that the page supposes. */
  readonly files?: (page: string) => Files | Promise<Files>;
  /** Commands that came before. */
  readonly first?: readonly string[];
  /** What is needed anew before a command. */
  readonly before?: Readonly<Record<string, string>>;
  /** Exit codes other than 0. */
  readonly codes?: Readonly<Record<string, number>>;
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

export const PASTED_PAGES: readonly PastedPage[] = [
  {
    path: 'README.md',
    files: (page) => ({
      'prompts.csv': blockWith(page, '', 'sku,product'),
      'jobs/nightly.job.toml': blockWith(page, 'toml', 'deployment'),
      'jobs/catalogue.csv': PROMPTS,
    }),
    first: ['runsheet dev'],
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
      'jobs/weekly.job.toml':
        'sheet = "../catalogue.csv"\ndeployment = "portraits"\nkey = "sku"\n[schedule]\ncron = "0 3 * * 1"\n',
    }),
    first: ['runsheet dev'],
  },
];
