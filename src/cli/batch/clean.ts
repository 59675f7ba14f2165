// clean: removes old batches and the leftovers of refused sheets and interrupted copies.

import type { FlagsOf } from '../flags/flags.ts';
import type { cleanFlags } from '../servers/server-flags.ts';
import { EXIT } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { findStale, removeStale } from '../../library/clean.ts';
import { printerFor, type Context, type Next } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { cleanupSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';
import { sameCommand } from '../next-command.ts';

type CleanFlags = FlagsOf<typeof cleanFlags>;

export default async function clean(this: Context, flags: CleanFlags): Promise<number> {
  const printer = printerFor(this, flags);
  const config = configOf(flags);
  const stale = await findStale(config, { olderThanMs: flags.olderThan, isStateMeant: flags.state });
  const { paths, kept, failed } = await removeStale(stale, flags.yes, (path) => {
    if (flags.output === 'text') printer.name(path);
  });
  if (flags.output === 'json')
    printer.json(shaped(cleanupSchema, { removed: flags.yes, paths, kept, failed }));
  printer.notice(`${plural(paths.length, 'path')} ${flags.yes ? 'removed' : 'would be removed'}`);
  for (const { path, reason } of kept) printer.notice(`kept: ${terminalLine(`${path}: ${reason}`)}`);
  for (const { path, reason } of failed) printer.notice(`not removed: ${terminalLine(`${path}: ${reason}`)}`);
  printer.next(nextOf(flags, paths.length, this.args ?? []));
  return failed.length === 0 ? EXIT.ok : EXIT.unexpected;
}

/** Without a path, the command removes only batches, and those need an age. */
function nextOf({ yes, olderThan }: CleanFlags, paths: number, args: readonly string[]): Next {
  if (yes || (paths === 0 && olderThan !== undefined)) return ['batches', 'runsheet list'];
  const add = paths === 0 ? ['--older-than', '30d'] : ['--yes'];
  return [paths === 0 ? 'older' : 'remove', sameCommand(args, 'clean', { add })];
}
