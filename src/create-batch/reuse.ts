// The same batch again: found by what is asked, so that a sheet that was renamed, saved anew or given with other settings is
// not bought twice.

import { problem } from '../errors/error.ts';
import { LOCAL } from '../run-service/local-address.ts';
import type { SheetOptions } from '../sheet/sheet-options.ts';
import { folderStore } from '../store/folder.ts';
import { listBatchFolders, openBatchFolder, type BatchFolder } from '../store/batch-folders.ts';
import { sheetOptionsOf, type BatchSpec, type Settings } from './batch-spec.ts';

/**
 * The batch of that content: the one of that name, or the oldest of this place. Throws E602 where the name stands for
 * another content.
 */
export async function findSame(
  out: string,
  content: string,
  name: string | undefined,
): Promise<BatchFolder | undefined> {
  if (name === undefined)
    return (await listBatchFolders(out)).findLast(({ file }) => file.content === content);
  const named = await openBatchFolder(out, name);
  if (named !== undefined && named.file.content !== content) throw taken(named);
  return named;
}

/** Where the name of each content stands, from before there is a batch of it. */
export const NAMES = '.names';

/** The name for a batch of that content: the one that the first command drew, whatever this one calls the sheet. */
export async function nameOf(out: string, { content, batch }: Drawn): Promise<string> {
  const store = folderStore(out);
  const file = `${NAMES}/${content}`;
  if (await store.create(file, batch)) return batch;
  return (await store.read(file)) ?? batch;
}

type Drawn = { readonly content: string; readonly batch: string };

export const taken = ({ batch, file }: BatchFolder) =>
  problem('E602', {
    what: `the batch "${batch}" has other rows or another deployment (${file.sheet.name}, ${file.createdAt})`,
    hint: 'choose another --name, or add --again to make a new batch beside it',
  });

type Unchanged = Pick<BatchSpec, 'copy' | 'options'> & { readonly base: string; readonly name?: string };

/** The same batch by the bytes of its sheet, found without laying it out and without asking the service. */
export async function findUnchanged(
  out: string,
  { copy, options, base, name }: Unchanged,
  wantedDeployment: string,
): Promise<BatchFolder | undefined> {
  const wanted = inOneOrder(sheetOptionsOf({ copy, options }));
  return (await listBatchFolders(out)).findLast(({ batch, file: { sheet, deployment, service } }) => {
    // Elsewhere a name may stand for another deployment by now, and only the service knows.
    const isMeant =
      deployment.id === wantedDeployment || (base === LOCAL && deployment.name === wantedDeployment);
    return (
      isMeant &&
      (name ?? batch) === batch &&
      service.base === base &&
      sheet.sha256 === copy.sha256 &&
      inOneOrder(sheet.options) === wanted
    );
  });
}

/** The same options give the same text, whatever order they were given in. */
function inOneOrder({ drop, ...options }: SheetOptions): string {
  return JSON.stringify(sorted({ ...options, drop: [...drop].sort() }));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}

/** The flags among the settings that differ from what the batch was made with, and what it has instead. */
export function differences({ file }: BatchFolder, settings: Settings): readonly string[] {
  const { concurrency, retries, unconfirmed, deadlines, webhooks } = settings;
  const compared = [
    ['--concurrency', concurrency, file.concurrency],
    ['--retries', retries, file.retries],
    ['--unconfirmed', unconfirmed && wordOf(unconfirmed), wordOf(file.unconfirmed)],
    ['--queue-timeout', secondsOf(deadlines.queueMs), secondsOf(file.deadlines.queueMs)],
    ['--run-timeout', secondsOf(deadlines.runMs), secondsOf(file.deadlines.runMs)],
    ['--poll', webhooks ? undefined : 'polling', file.webhooks ? 'webhooks' : 'polling'],
  ] as const;
  return compared
    .filter(([, given, has]) => given !== undefined && given !== has)
    .map(([flag, , has]) => `${flag} (it has ${has ?? 'none'})`);
}

/** A rule as the flag has it. */
const wordOf = ({ rule, afterMs }: NonNullable<Settings['unconfirmed']>): string =>
  rule === 'resubmit' ? `resubmit-after=${secondsOf(afterMs)}` : rule;

const secondsOf = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : `${ms / 1000}s`;
