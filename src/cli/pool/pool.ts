// pool list, show, set, release: manage pools of slots that batches share. Reading starts no servers.

import type { ShownFlags as Flags } from '../flags/flags.ts';
import { MAX_POOL_MEMBERS } from '../../batch/bounds.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { Pool, PoolMember } from '../../temporal/temporal-pools.ts';
import { Pools } from '../../library/pools.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { count, plural } from '../../options/text/printed-numbers.ts';
import { poolJson } from '../json/documents.ts';

import { keepNames } from '../completion/proposals.ts';
import { serversFor } from '../command-session.ts';

export async function list(this: Context, flags: Flags): Promise<void> {
  const printer = printerFor(this, flags);
  const pools = await poolsFor(flags, printer).list();
  const names = pools.map(({ pool }) => pool);
  keepNames(configOf(flags), 'pools', names);
  if (flags.output === 'json') printer.json(pools.map(poolJson));
  else for (const pool of pools) printer.data(poolLine(pool));
  const [first] = pools;
  if (first === undefined) printer.notice('no pools here yet');
  printer.next(
    first === undefined
      ? ['create', 'runsheet pool set gpus --size 8']
      : ['show', `runsheet pool show ${first.pool}`],
  );
}

export async function show(this: Context, flags: Flags, name: string): Promise<void> {
  const printer = printerFor(this, flags);
  print(printer, flags, await poolsFor(flags, printer).show(name));
}

export async function set(
  this: Context,
  flags: Flags & { readonly size: number },
  name: string,
): Promise<void> {
  return changing(this, flags, (pools) => pools.set(name, { size: flags.size }));
}

export async function release(this: Context, flags: Flags, name: string, batch: string): Promise<void> {
  return changing(this, flags, (pools) => pools.release(name, batch));
}

async function changing(context: Context, flags: Flags, change: (pools: Pools) => Promise<Pool>) {
  const printer = printerFor(context, flags);
  await using servers = serversFor(configOf(flags), printer);
  print(printer, flags, await change(new Pools(servers)));
}

const poolsFor = (flags: Flags, printer: Printer): Pools => new Pools(serversFor(configOf(flags), printer));

function print(printer: Printer, { output }: Flags, pool: Pool): void {
  if (output === 'json') return printer.json(poolJson(pool));
  printer.data(poolLines(pool).join('\n'));
  const [member] = pool.members;
  printer.next(
    member === undefined
      ? ['use', `runsheet run <sheet> -d <deployment> --pool ${pool.pool}`]
      : ['status', `runsheet status ${member.batch}`],
  );
}

export const poolLines = (pool: Pool): readonly string[] => [
  poolLine(pool),
  ...pool.members.map(memberLine),
  ...(pool.turnedAway === undefined
    ? []
    : [
        `  ${plural(pool.turnedAway, 'more batch waits', 'more batches wait')} without slots: a pool has room for ${MAX_POOL_MEMBERS} batches, and the next one joins when one of them ends`,
      ]),
];

/** `gpus: 64 slots, 3 batches, 60 in use`. */
export const poolLine = ({ pool, size, batches, used }: Pool): string =>
  `${terminalLine(pool)}: ${plural(size, 'slot')}, ${plural(batches, 'batch', 'batches')}, ${count(used)} in use`;

function memberLine({ batch, weight, urgency, granted, used, wanted, ...times }: PoolMember): string {
  const name = `  ${terminalLine(batch)}`;
  if (times.goneAt === undefined)
    return `${name}  ${count(used)} of ${count(granted)} granted in use, ${count(wanted)} wanted, weight ${weight}, urgency ${urgency}`;
  const free =
    times.freeAt === undefined ? '' : `, at the latest free at ${new Date(times.freeAt).toISOString()}`;
  return `${name}  ended at ${new Date(times.goneAt).toISOString()}, perhaps with runs; ${plural(times.charged, 'slot')} held${free}`;
}
