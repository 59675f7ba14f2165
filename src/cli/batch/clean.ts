// clean: removes old batches and the leftovers of refused sheets and interrupted copies.

import { existsSync } from 'node:fs';
import pMap from 'p-map';
import { EXIT, problem } from '../../errors/error.ts';
import { readSummary } from '../../results/summary.ts';
import { livingRecord } from '../../temporal/embedded/stack-file.ts';
import { staleIn } from '../../create-batch/stale-folders.ts';
import type { Stale } from '../../create-batch/stale-objects.ts';
import { discardFolders } from '../../store/discard-folder.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';
import { printerFor, type Context } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { plural } from '../format.ts';
import { cleanupSchema } from '../json/servers.ts';
import { shaped } from '../json/shape.ts';
import { sameCommand, sayNext, type Next } from '../next-command.ts';

type Flags = {
  readonly out?: string;
  readonly olderThan?: number;
  readonly state: boolean;
  readonly yes: boolean;
  readonly output: 'text' | 'json';
};

export default async function clean(this: Context, flags: Flags): Promise<number> {
  const printer = printerFor(this);
  const config = configOf(flags);
  const stale = [...(await staleIn(config, STALE_MS)), ...(await oldBatches(config.out, flags.olderThan))];
  if (flags.state) stale.push(...stateOf(config.home));
  const paths = stale.map(({ path }) => path);
  if (flags.output === 'json') printer.json(shaped(cleanupSchema, { removed: flags.yes, paths }));
  else for (const path of paths) printer.data(path);
  const isOver = !flags.yes || (await removedSoon(stale));
  printer.notice(`${plural(paths.length, 'path')} ${flags.yes ? 'removed' : 'would be removed'}`);
  if (!isOver) printer.notice('their files are still being deleted; this goes on without the command');
  sayNext(printer, flags.output, nextOf(flags, paths.length, this.args ?? []));
  return EXIT.ok;
}

/** Without a path there is nothing to remove but batches, which need an age. */
function nextOf({ yes, olderThan }: Flags, paths: number, args: readonly string[]): Next {
  if (yes || (paths === 0 && olderThan !== undefined)) return ['batches', 'runsheet list'];
  const add = paths === 0 ? ['--older-than', '30d'] : ['--yes'];
  return [paths === 0 ? 'older' : 'remove', sameCommand(args, 'clean', { add })];
}

/** False if the files of removed folders are still being deleted, by a process of their own. */
async function removedSoon(stale: readonly Stale[]): Promise<boolean> {
  const elsewhere = stale.flatMap(({ remove }) => remove ?? []);
  await pMap(elsewhere, (remove) => remove(), { concurrency: AT_A_TIME });
  const here = stale.filter(({ remove }) => remove === undefined);
  return discardFolders(
    here.map(({ path }) => path),
    PATIENCE_MS,
  );
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
    const summary = await readSummary(store);
    if (summary && Date.now() - Date.parse(summary.ended_at) >= olderThanMs)
      old.push({ path: folder, ...(store.localPath === undefined && { remove: () => store.clear('') }) });
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
