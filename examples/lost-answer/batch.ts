// runsheet at the same losses: a batch of one row against a local run service that creates the run, then loses the answer of every
// Queue Run.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import type { Loss } from './losing-server.ts';

type ChildCommand = ChildProcessByStdio<null, Readable, Readable>;

const PROGRAM = join(import.meta.dirname, '../../bin/runsheet.mjs');

/** The fault of the run service that loses an answer in this way: the run exists each time. */
const FAULTS: Readonly<Record<Loss, string>> = {
  'closed once': 'drop-answer',
  closed: 'drop-answer',
  '500': 'error-answer',
  '502': 'gateway-answer',
};

type Ledger = {
  readonly requests: { readonly queue: number };
  readonly runs: Readonly<Record<string, number>>;
};
export type Bought = { readonly posts: number; readonly runs: number };

/** Counts the POSTs and runs of one row in the ledger of the service, for each loss. */
export async function measureBatch(losses: readonly Loss[]): Promise<ReadonlyMap<Loss, Bought>> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-lost-row-'));
  try {
    writeFileSync(join(folder, 'deployments.json'), JSON.stringify([{ name: 'owls', runSeconds: 1 }]));
    writeFileSync(join(folder, 'rows.csv'), 'number,prompt\n1,an owl\n');
    const bought = new Map<Loss, Bought>();
    for (const loss of losses) {
      const same = losses.find((earlier) => FAULTS[earlier] === FAULTS[loss] && bought.has(earlier));
      bought.set(loss, (same && bought.get(same)) ?? (await measureFault(FAULTS[loss], folder)));
    }
    return bought;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

async function measureFault(fault: string, folder: string): Promise<Bought> {
  await using running = new AsyncDisposableStack();
  const faulty = ['--deployments', 'deployments.json', '--fault', `${fault}=1`];
  const service = start(['service', '--port', '0', ...faulty, '-o', 'json'], folder, {});
  running.defer(() => stop(service));
  const {
    base,
    tokens: [key],
  } = await addressOf(service);
  const row = start(['run', 'rows.csv', '-d', 'owls', '--again', '-o', 'json'], folder, {
    RUNSHEET_API_URL: base,
    RUNSHEET_API_KEY: key,
  });
  running.defer(() => stop(row));
  const printed = Promise.all([row.stderr, row.stdout].map((stream) => text(stream)));
  const [code] = (await once(row, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`runsheet run ended with ${code}: ${(await printed).join('')}`);
  const response = await fetch(new URL('/control/ledger', base), {
    headers: { authorization: `Bearer ${key}` },
  });
  const { requests, runs } = (await response.json()) as Ledger;
  return { posts: requests.queue, runs: Object.values(runs).reduce((sum, count) => sum + count, 0) };
}

type Address = { readonly base: string; readonly tokens: readonly [string] };

/** Reads the address that a service prints when it is ready. */
async function addressOf(service: ChildCommand): Promise<Address> {
  let printed = '';
  for await (const chunk of service.stdout.iterator({ destroyOnReturn: false })) {
    printed += String(chunk);
    if (printed.trimEnd().endsWith('}')) return JSON.parse(printed) as Address;
  }
  throw new Error(`the run service ended: ${printed}`);
}

function start(args: readonly string[], folder: string, settings: Record<string, string>): ChildCommand {
  const environment = Object.entries(process.env).filter(([name]) => !/^(RUNSHEET|TEMPORAL)_/.test(name));
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(environment), RUNSHEET_HOME: join(folder, 'state'), ...settings },
  });
}

async function stop(child: ChildCommand): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  await exit;
}
