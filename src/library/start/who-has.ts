// Finds the servers that hold a batch before a command says that none do (R36): a batch unknown to these servers may run elsewhere.
//
//   started.json, else the newest note of a worker, else the place that this user remembers ──▶ the holder
//   the holder ──▶ these servers, or others ──▶ running, idle, gone, away or strange

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { homeOfPlace } from '../../batches/known-places.ts';
import { problem, type Correction, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import type { Config } from '../../host/settings/config.ts';
import { isOwnStateFolder } from '../../host/state-folder.ts';
import { notesFolder } from '../../host/user-folders.ts';
import { holderHere, holderText, isSameServers, type Holder } from '../../store/holder.ts';
import { isNeverStarted, isSameRun, readStarted, type StartedFile } from '../../store/started.ts';
import { readWorkerNotes } from '../../store/workers.ts';
import type { ListedBatch } from '../../temporal/batch-client.ts';
import { namespaceIn } from '../../temporal/embedded/instance.ts';
import { livingRecord, type StackRecord } from '../../temporal/embedded/stack-file.ts';
import type { FoundBatch } from '../handle/found-batch.ts';
import { isForeign } from './foreign-batch.ts';

/**
 * `running`: embedded servers on this machine, with their process. `idle`: their state folder is here, and no process runs it. `gone`:
 * it was here, and is removed. `away`: a cluster, or on another machine. `strange`: a state folder that this user's runsheet has not
 * made, which may be another user's, or brought along with the batch. `isClaim`: a stranger may have written who the holder is.
 */
export type OtherHolder = { readonly holder: Holder; readonly isClaim?: boolean } & (
  | { readonly are: 'running'; readonly process: Pick<StackRecord, 'pid' | 'version'> }
  | { readonly are: 'idle' | 'gone' | 'away' | 'strange' }
);

/** `ours`: only these servers hold the batch. `unnamed`: its folder does not name a holder. */
export type Has =
  | { readonly by: 'nobody' | 'ours' | 'unnamed' }
  | { readonly by: 'others'; readonly others: OtherHolder };

/** Facts about servers that need no request. */
export type Here = { readonly config: Config; readonly holder: Holder };

export async function whoHas(batchFolder: FoundBatch, here: Here): Promise<Has> {
  const { store, file } = batchFolder;
  const started = await readStarted(store);
  if (started === undefined || isNeverStarted(started)) return { by: 'nobody' };
  if (started.rebuilding && isSameServers(started.rebuilding.holder, here.holder)) return { by: 'ours' };
  const holder = started.holder ?? (await notedHolder(store)) ?? placedHolder(here.config, file);
  if (holder === undefined) return { by: 'unnamed' };
  return isSameServers(holder, here.holder)
    ? { by: 'ours' }
    : {
        by: 'others',
        others: { ...othersOf(holder, here.config), isClaim: isForeign(here.config, batchFolder) },
      };
}

const notedHolder = async (store: FoundBatch['store']): Promise<Holder | undefined> =>
  (await readWorkerNotes(store)).find(({ holder }) => holder !== undefined)?.holder;

function placedHolder({ places }: Config, file: FoundBatch['file']): Holder | undefined {
  const home = homeOfPlace(places, file);
  return home === undefined ? undefined : holderHere({ kind: 'embedded', home });
}

function othersOf(holder: Holder, config: Config): OtherHolder {
  const { kind, home, host, namespace } = holder;
  if (kind === 'cluster' || home === undefined) return { holder, are: 'away' };
  const isHere = existsSync(join(home, 'instance'));
  // A machine may have been renamed, and two machines may have state folders with the same path.
  const isSame = isHere && (namespace === undefined || namespaceIn(home) === namespace);
  if (!isSame) return { holder, are: host === hostname() ? 'gone' : 'away' };
  if (!isOwnStateFolder(home, notesFolder(config.environment))) return { holder, are: 'strange' };
  const record = livingRecord(home);
  return record === undefined ? { holder, are: 'idle' } : { holder, are: 'running', process: record };
}

/** The configured servers, running or not. */
export const holderOfHome = (home: string): Holder => {
  const namespace = namespaceIn(home);
  return holderHere({ kind: 'embedded', home, ...(namespace !== undefined && { namespace }) });
};

/** Whether other servers have taken a batch that these servers know. */
export function isSuperseded(execution: ListedBatch, started: StartedFile | undefined, own: Holder): boolean {
  const { holder, workflow, rebuilding } = started ?? {};
  if (holder === undefined || workflow === undefined || isSameServers(holder, own)) return false;
  if (isSameRun(workflow, execution.firstRun)) return false;
  // The workflow enters itself in started.json with its first action, or at the end of a rebuild.
  const isEntering = execution.status === 'RUNNING' && !execution.hasLoaded;
  const isRebuiltHere = rebuilding !== undefined && isSameServers(rebuilding.holder, own);
  return !isEntering && !isRebuiltHere;
}

/** Builds E548, with the same command for the servers that hold the batch. */
export function heldElsewhere(
  { batch, folder }: FoundBatch,
  holding: OtherHolder,
  own: Holder,
): RunsheetError {
  const { holder, are } = holding;
  const { home } = holder;
  if (are === 'gone') return problem('E503', { batch, folder, had: { home: home ?? '' } });
  const { pid, version } = 'process' in holding ? holding.process : {};
  const servers = home === undefined ? holderText(holder) : `the state folder ${home}`;
  const settings = settingsOf(holding, own);
  const words = settings.map(([name, value]) => `${name}=${shellWord(value)}`).join(' ');
  return problem(
    'E548',
    { batch, are, servers, host: holder.host, pid, version, settings: words },
    { correction: settings.length === 0 ? undefined : { environment: settings } },
  );
}

/** The settings with which a command reaches the servers; none if a stranger may have supplied them. */
export function settingsOf(
  { are, isClaim = false, holder: { kind, home, address, namespace } }: OtherHolder,
  own: Holder,
): Extract<Correction, { readonly environment: unknown }>['environment'] {
  if (are === 'strange') return [];
  if (kind === 'embedded')
    return [
      ...(own.kind === 'cluster' ? [['TEMPORAL_ADDRESS', ''] as const] : []),
      ...(home === undefined ? [] : [['RUNSHEET_HOME', home] as const]),
    ];
  // A command there would send this user's rows to a stranger's cluster.
  if (address === undefined || isClaim) return [];
  return [['TEMPORAL_ADDRESS', address], ...(namespace ? [['TEMPORAL_NAMESPACE', namespace] as const] : [])];
}
