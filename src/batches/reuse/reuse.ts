// Finds an existing batch by its content, so that the same rows are not paid for twice when the sheet is renamed, saved again or
// run with other settings.

import { canonical } from '../../host/formats/canonical-json.ts';
import { problem } from '../../errors/error.ts';
import { isSameService } from '../../host/service-address.ts';
import { LOCAL } from '../../host/local-address.ts';
import type { SheetOptions } from '../../sheet/sheet-source.ts';
import { openStore } from '../../store/open-store.ts';
import {
  listBatchFolders,
  locationOf,
  openBatchFolder,
  type BatchFolder,
} from '../../store/batch-folders.ts';
import { PIPELINE_FILE, type BatchFile } from '../../store/batch-file.ts';
import { hasContent } from '../batch-id.ts';
import { sheetOptionsOf, type BatchSpec, type Settings } from '../batch-spec.ts';

export type Earlier = {
  readonly out: string;
  readonly name?: string;
  readonly madeFor?: string;
  readonly batches: readonly BatchFolder[];
};

/**
 * The batch with this content: the batch called `name`, or else the oldest. Throws E602 if the name belongs to other content or
 * to another call.
 */
export async function findSame(
  { out, name, madeFor, batches }: Earlier,
  wanted: Omit<Same, 'madeFor'>,
): Promise<BatchFolder | undefined> {
  if (name === undefined) return batches.findLast(({ file }) => hasContent(file, wanted));
  const named = await openBatchFolder(out, name);
  if (named === undefined && (await openStore(locationOf(out, name)).exists(PIPELINE_FILE)))
    throw problem('E602', { what: `"${name}" is the name of a pipeline`, hint: 'choose another --name' });
  return named && joined(named, { ...wanted, madeFor });
}

/** The facts in which two equal batches agree. */
type Same = Parameters<typeof hasContent>[1] & { readonly madeFor: string | undefined };

type Drafted = { readonly file: BatchFile; readonly laidOut: { readonly content: string } };

export const sameAs = ({ file, laidOut }: Drafted): Same => ({
  rows: laidOut.content,
  deploymentId: file.deployment.id,
  service: file.service,
  madeFor: file.madeFor,
});

/** Throws E602 if the name belongs to other content, or to another call. */
export function joined(named: BatchFolder, wanted: Same): BatchFolder {
  if (!hasContent(named.file, wanted)) throw taken(named);
  if (wanted.madeFor !== undefined && wanted.madeFor !== named.file.madeFor) throw ofOther(named);
  return named;
}

/** Folder with the batch name of each content, written before the batch exists. */
export const NAMES = '.names';

/** The batch name that the first command chose for this content, even if the sheet was renamed since. */
export async function nameOf(out: string, { content, batch }: Drawn): Promise<string> {
  const store = openStore(out);
  const file = `${NAMES}/${content}`;
  if (await store.create(file, batch)) return batch;
  return (await store.read(file)) ?? batch;
}

/** The name that a command chose for this content, or `batch`; reserves nothing. */
export const knownName = async (out: string, { content, batch }: Drawn): Promise<string> =>
  (await openStore(out).read(`${NAMES}/${content}`)) ?? batch;

type Drawn = { readonly content: string; readonly batch: string };

const taken = ({ batch, file }: BatchFolder) =>
  problem('E602', {
    what: `the batch "${batch}" has other rows or another deployment (${file.sheet.name}, ${file.createdAt})`,
    hint: 'choose another --name, or add --again to make a new batch beside it',
  });

/** A call finds its batch again by name, so the name is never replaced. */
export const ofOther = ({ batch, file }: BatchFolder) =>
  problem('E602', {
    what: `the batch "${batch}" was made by another command or call (${file.sheet.name}, ${file.createdAt})`,
    hint: 'choose another name',
  });

type Unchanged = Pick<BatchSpec, 'copy' | 'options'> & {
  readonly base: string;
  readonly name?: string;
  /** Replaces the bytes for a sheet that is made from a batch: its request. */
  readonly request?: string;
};

/** Finds the batch of a sheet with the same bytes, without a layout and without a request to the service. */
export async function findUnchanged(
  out: string,
  { copy, options, base, name, request }: Unchanged,
  wantedDeployment: string,
): Promise<BatchFolder | undefined> {
  const wanted = inOneOrder(sheetOptionsOf({ copy, options }));
  return (await listBatchFolders(out)).findLast(({ batch, file: { sheet, deployment, service, from } }) => {
    // The name may belong to another deployment now, which only the service knows.
    const isMeant =
      deployment.id === wantedDeployment || (base === LOCAL && deployment.name === wantedDeployment);
    return (
      isMeant &&
      // The files that the sheet names may have changed, and missing ones may be there.
      (sheet.files?.count ?? 0) === 0 &&
      sheet.refused === undefined &&
      (name ?? batch) === batch &&
      isSameService(service, { base }) &&
      (request === undefined
        ? sheet.sha256 === copy.sha256 && inOneOrder(sheet.asked ?? sheet.options) === wanted
        : from?.request === request)
    );
  });
}

export const inOneOrder = ({ drop, ...options }: SheetOptions): string =>
  canonical({ ...options, drop: [...drop].sort() });

/** The flags that differ from the batch's settings, with the batch's values. */
export function differences({ file }: BatchFolder, settings: Settings): readonly string[] {
  const { unconfirmed, deadlines, webhooks, canary, servers } = settings;
  const compared = [
    ['--unconfirmed', unconfirmed && flagValueOf(unconfirmed), flagValueOf(file.unconfirmed)],
    ['--queue-timeout', secondsOf(deadlines.queueMs), secondsOf(file.deadlines.queueMs)],
    ['--run-timeout', secondsOf(deadlines.runMs), secondsOf(file.deadlines.runMs)],
    ['--time-limit', secondsOf(settings.timeLimitMs), secondsOf(file.timeLimitMs)],
    ['--comfyui', servers && sortedText(servers), sortedText(file.servers ?? [])],
    ['--canary', canary && String(canary.rows), file.canary && String(file.canary.rows)],
    ['--reserve', settings.reserve, file.reserve ?? 'most'],
    ['--output-name', settings.outputName, file.sheet.outputName],
    ['--poll', webhooks ? undefined : 'polling', file.webhooks ? 'webhooks' : 'polling'],
  ] as const;
  return compared
    .filter(([, wanted, stored]) => wanted !== undefined && wanted !== stored)
    .map(([flag, , stored]) => `${flag} (it has ${stored ?? 'none'})`);
}

const sortedText = (texts: readonly string[]): string | undefined =>
  texts.length === 0 ? undefined : texts.toSorted().join(', ');

/** A rule as a value of --unconfirmed. */
const flagValueOf = ({ rule, afterMs }: NonNullable<Settings['unconfirmed']>): string =>
  rule === 'resubmit' ? `resubmit-after=${secondsOf(afterMs)}` : rule;

const secondsOf = (ms: number | undefined) => (ms === undefined ? undefined : `${ms / 1000}s`);
