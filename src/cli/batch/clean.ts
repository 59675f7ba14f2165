// clean: removes old batches and the leftovers of refused sheets and interrupted copies.

import type { FlagsOf } from '../flags/flags.ts';
import type { cleanFlags } from '../servers/server-flags.ts';
import { existsSync } from 'node:fs';
import pMap from 'p-map';
import { EXIT, errorMessage, problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { readSummary } from '../../results/summary.ts';
import type { Config } from '../../host/config.ts';
import { livingRecord } from '../../temporal/embedded/stack-file.ts';
import { staleIn } from '../../create-batch/stale-folders.ts';
import type { Stale } from '../../create-batch/stale-objects.ts';
import { discardFolders, type Discarded, type NotRemoved } from '../../store/discard-folder.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';
import { printerFor, type Context } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { plural } from '../format.ts';
import { cleanupSchema } from '../json/servers.ts';
import { shaped } from '../json/shape.ts';
import { sameCommand, sayNext, type Next } from '../next-command.ts';

type Flags = FlagsOf<typeof cleanFlags>;

export default async function clean(this: Context, flags: Flags): Promise<number> {
  const printer = printerFor(this);
  const config = configOf(flags);
  const stale = [...(await staleIn(config, STALE_MS)), ...(await oldBatches(config.out, flags.olderThan))];
  if (flags.state) stale.push(...stateOf(config.home));
  const { paths, failed, isOver } = await removed(stale, flags.yes && config, (path) => {
    if (flags.output === 'text') printer.name(path);
  });
  if (flags.output === 'json') printer.json(shaped(cleanupSchema, { removed: flags.yes, paths, failed }));
  printer.notice(`${plural(paths.length, 'path')} ${flags.yes ? 'removed' : 'would be removed'}`);
  if (!isOver) printer.notice('their files are still being deleted; this goes on without the command');
  for (const { path, reason } of failed) printer.notice(`not removed: ${terminalLine(`${path}: ${reason}`)}`);
  sayNext(printer, flags.output, nextOf(flags, paths.length, this.args ?? []));
  return failed.length === 0 ? EXIT.ok : EXIT.unexpected;
}

type Removed = Discarded & { readonly paths: readonly string[] };

/** Without settings only what would be removed. `print`: each path, before its removal begins. */
async function removed(
  all: readonly Stale[],
  config: Config | false,
  print: (path: string) => void,
): Promise<Removed> {
  const unread = all.flatMap(({ path, fault }) => (fault === undefined ? [] : [{ path, reason: fault }]));
  const stale = all.filter(({ fault }) => fault === undefined);
  for (const { path } of stale) print(path);
  const { isOver, failed } = config ? await removedSoon(stale, config) : { isOver: true, failed: [] };
  const kept = new Set(failed.map(({ path }) => path));
  const paths = stale.map(({ path }) => path).filter((path) => !kept.has(path));
  return { paths, isOver, failed: [...unread, ...failed] };
}

/** Without a path there is nothing to remove but batches, which need an age. */
function nextOf({ yes, olderThan }: Flags, paths: number, args: readonly string[]): Next {
  if (yes || (paths === 0 && olderThan !== undefined)) return ['batches', 'runsheet list'];
  const add = paths === 0 ? ['--older-than', '30d'] : ['--yes'];
  return [paths === 0 ? 'older' : 'remove', sameCommand(args, 'clean', { add })];
}

async function removedSoon(stale: readonly Stale[], { environment }: Config): Promise<Discarded> {
  const faults = await pMap(stale, removedElsewhere, { concurrency: AT_A_TIME });
  const here = stale.filter(({ remove }) => remove === undefined).map(({ path }) => path);
  const { isOver, failed } = await discardFolders(here, { patienceMs: PATIENCE_MS, environment });
  return { isOver, failed: [...faults.flat(), ...failed] };
}

/** Removes what is not on this machine. */
async function removedElsewhere({ path, remove }: Stale): Promise<readonly NotRemoved[]> {
  try {
    await remove?.();
    return [];
  } catch (error) {
    return [{ path, reason: errorMessage(error) }];
  }
}

const PATIENCE_MS = 15_000;

/** More would not be faster: the removal of one is concurrent as well. */
const AT_A_TIME = 4;

/** A younger folder may belong to a command that is still running. */
const STALE_MS = 3_600_000;

/** Ended batches that are older than the given time; none without a time. */
async function oldBatches(out: string, olderThanMs: number | undefined): Promise<readonly Stale[]> {
  if (olderThanMs === undefined) return [];
  const old: Stale[] = [];
  for (const { folder, store } of await listBatchFolders(out)) {
    try {
      const summary = await readSummary(store);
      if (summary && Date.now() - Date.parse(summary.ended_at) >= olderThanMs)
        old.push({ path: folder, ...(store.localPath === undefined && { remove: () => store.clear('') }) });
    } catch (error) {
      old.push({ path: folder, fault: errorMessage(error) });
    }
  }
  return old;
}

/** The embedded servers' state folder. Throws while the servers run. */
function stateOf(home: string): readonly Stale[] {
  if (livingRecord(home) !== undefined) {
    throw problem('E602', {
      what: `the embedded servers of ${home} are running`,
      hint: 'first end the commands that use them',
    });
  }
  return existsSync(home) ? [{ path: home }] : [];
}
