// Lost answers side by side: npm run demo:lost-answer [-- --only npm --only runsheet -o json].
//
// Each official client asks a server for one generation. The server reads the POST, then loses the answer; a vendor would have begun
// to generate. The table shows the number of POSTs that arrived: for runsheet, whose run service creates a run for each of them, the
// ledger of the service has the number of runs too. The clients are installed into a folder of the temporary folder at the first start.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { measureBatch, type Bought } from './batch.ts';
import { CLIENTS, installClients, type Client, type InstalledClients } from './clients.ts';
import { LOSSES, startLosingServer, type Loss } from './losing-server.ts';

const SOURCES = ['npm', 'PyPI', 'runsheet'] as const;

const { values } = parseArgs({
  options: {
    output: { type: 'string', short: 'o', default: 'text' },
    only: { type: 'string', multiple: true, default: [...SOURCES] },
  },
});
const unknown = values.only.find((name) => !(SOURCES as readonly string[]).includes(name));
if (unknown !== undefined || !['text', 'json'].includes(values.output)) {
  console.error('options: -o text|json, --only npm|PyPI|runsheet (repeatable)');
  process.exit(2);
}

type MeasuredClient = {
  readonly client: string;
  readonly version: string;
  readonly registry: string;
  /** POSTs that arrived for one generation. */
  readonly posts: Readonly<Partial<Record<Loss, number>>>;
  /** Whether every POST had the same idempotency key, so that a vendor could see that they are one generation. */
  readonly same_key?: boolean;
  readonly runs?: Readonly<Partial<Record<Loss, number>>>;
  readonly missing?: string;
};

const rows = await measureClients();
if (values.only.includes('runsheet')) rows.unshift(batchRow(await measureBatch(LOSSES)));
console.log(values.output === 'json' ? JSON.stringify(rows, undefined, 2) : tableOf(rows));

async function measureClients(): Promise<MeasuredClient[]> {
  const registries = (['npm', 'PyPI'] as const).filter((registry) => values.only.includes(registry));
  if (registries.length === 0) return [];
  const clients = CLIENTS.filter(({ registry }) => registries.includes(registry));
  const installed = await installClients(registries);
  console.error(`asking each of ${clients.length} clients for ${LOSSES.length} generations …`);
  // Most of the time of a client is its pause before the next POST.
  const queue = clients.map((client, at) => ({ client, at }));
  const measured: MeasuredClient[] = [];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift())
      measured[next.at] = await measure(next.client, installed);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return measured;
}

async function measure(client: Client, { missing, run }: InstalledClients): Promise<MeasuredClient> {
  const { version, registry } = client;
  const row = { client: client.package, version, registry, posts: {} };
  const reason = missing[registry];
  if (reason !== undefined) return { ...row, missing: reason };
  const counts = await Promise.all(
    LOSSES.map(async (loss) => {
      await using server = await startLosingServer(loss);
      await run(client, server.url);
      return { loss, posts: server.posts(), keys: server.keys() };
    }),
  );
  const silent = counts.find(({ posts }) => posts === 0);
  if (silent !== undefined) throw new Error(`${client.package} (${registry}) sent no POST at ${silent.loss}`);
  return {
    ...row,
    posts: Object.fromEntries(counts.map(({ loss, posts }) => [loss, posts])),
    same_key: counts.every(({ keys }) => keys === 1),
  };
}

function batchRow(bought: ReadonlyMap<Loss, Bought>): MeasuredClient {
  return {
    client: 'runsheet',
    version: '',
    registry: '',
    posts: Object.fromEntries([...bought].map(([loss, { posts }]) => [loss, posts])),
    runs: Object.fromEntries([...bought].map(([loss, { runs }]) => [loss, runs])),
  };
}

function tableOf(measured: readonly MeasuredClient[]): string {
  const lines = measured.map((row) => [
    [row.client, row.version, row.registry && `(${row.registry})`].filter(Boolean).join(' '),
    ...LOSSES.map((loss) => cellOf(row, loss)),
    row.missing ??
      (row.same_key === true ? 'one key' : row.runs === undefined ? 'no key' : 'looks for its run'),
  ]);
  const table = [['POSTs for one generation', ...LOSSES, ''], ...lines];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((cells) => cells[at]?.length ?? 0))) ?? [];
  return table
    .map((cells) =>
      cells
        .map((cell, at) =>
          (at === 0 || at > LOSSES.length ? cell.padEnd : cell.padStart).call(cell, widths[at] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellOf({ posts, runs, missing }: MeasuredClient, loss: Loss): string {
  if (missing !== undefined) return '–';
  const made = runs?.[loss];
  return made === undefined ? String(posts[loss]) : `${posts[loss]} (${made} run${made === 1 ? '' : 's'})`;
}
