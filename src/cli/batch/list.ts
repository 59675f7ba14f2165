// Lists batches from their folders, and from their workflows if Temporal is reachable. Read-only; starts no servers.

import type { ShownFlags } from '../flags/flags.ts';
import { errorMessage } from '../../errors/error.ts';
import type { Config } from '../../host/settings/config.ts';
import { isS3Address } from '../../host/s3-address.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { isSettled, listedStatuses } from '../../library/handle/batch-status.ts';
import { foldersElsewhere } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { keepNames } from '../completion/proposals.ts';
import { configOf, shownService } from '../flags/batch-options.ts';
import { nextCommand, REHEARSAL } from '../next-command.ts';
import { serversFor } from '../command-session.ts';
import { count } from '../../options/text/printed-numbers.ts';
import { batchJson, type BatchStatus } from '../json/batch-json.ts';
import { doneOf, liveStatus, outcomeText } from './status.ts';

export async function list(this: Context, flags: ShownFlags): Promise<void> {
  const printer = printerFor(this, flags);
  const config = configOf(flags);
  const { folders, unreadable } = await listedStatuses(config.out);
  const names = folders.map(({ batchFolder }) => batchFolder.batch);
  if (isS3Address(config.out)) keepNames(config, 'batches', names);
  for (const [batch, fault] of unreadable)
    printer.notice(`${terminalLine(batch)} cannot be read: ${terminalLine(fault)}`);
  const statuses = await withLiveStatus(flags, printer, folders);
  if (flags.output === 'json')
    printer.json(
      statuses.map((shownStatus, at) => batchJson((folders[at] as ListedFolder).batchFolder, shownStatus)),
    );
  else
    for (const [at, shownStatus] of statuses.entries())
      printer.data(lineOf(config, (folders[at] as ListedFolder).batchFolder, shownStatus));
  const [newest] = folders;
  if (newest !== undefined)
    printer.next(['status', nextCommand('status', newest.batchFolder, { out: config.out })]);
  else if (unreadable.length === 0) {
    const outs = await foldersElsewhere(config);
    printer.notice(
      outs.length === 0 ? 'no batches here yet' : 'no batches here; there are some in other folders',
    );
    if (outs.length === 0) printer.next(['rehearse', REHEARSAL]);
    else printer.next(...outs.map((out) => ['list', `runsheet list --out ${shellWord(out)}`] as const));
  }
}

type ListedFolder = Awaited<ReturnType<typeof listedStatuses>>['folders'][number];

/** Asks Temporal about batches that have not ended. A failed request never hides what the folders say. */
async function withLiveStatus(flags: ShownFlags, printer: Printer, folders: readonly ListedFolder[]) {
  const fromFolders = folders.map(({ own }) => own);
  if (fromFolders.every(isSettled)) return fromFolders;
  const unknown = (own: BatchStatus, error: unknown): BatchStatus => {
    printer.notice(`Temporal cannot be asked whether ${own.batch} is running: ${errorMessage(error)}`);
    return { ...own, state: 'unknown' };
  };
  try {
    return await serversFor(configOf(flags), printer).asking((_, servers) =>
      Promise.all(
        folders.map(({ batchFolder, own }) =>
          liveStatus(servers, batchFolder, own).catch((error: unknown) => unknown(own, error)),
        ),
      ),
    );
  } catch (error) {
    return fromFolders.map((own) => (isSettled(own) ? own : unknown(own, error)));
  }
}

/** The time is in this machine's time zone. */
const lineOf = (
  config: Config,
  { file }: FoundBatch,
  { batch, state, unattended, trouble, wasPaused, heldBy, rows, outcomes, fault }: BatchStatus,
): string =>
  [
    terminalLine(batch),
    new Date(file.createdAt).toLocaleString('sv-SE').slice(0, 16),
    shownService(config, file.service),
    [state, unattended && 'no worker', trouble && 'its worker fails', wasPaused && 'was paused', heldBy?.home]
      .filter(Boolean)
      .join(', '),
    `${fault === undefined ? count(doneOf(outcomes)) : '?'}/${count(rows)}`,
    outcomeText(outcomes),
  ]
    .filter(Boolean)
    .join('\t');
