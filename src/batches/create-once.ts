// Creates the batch of a call that may be repeated: a call with the same id finds the batch that an earlier one made, even if the
// sheet has changed meanwhile. So an activity that is retried after its worker was killed never makes a second batch. The id
// stands in batch.json, which is created once, and decides the batch's name.

import { hash } from 'node:crypto';
import { problem } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import type { Download } from '../host/http/download.ts';
import { LOCAL, localService } from '../host/local-address.ts';
import type { Spoken } from '../service-client/open-services.ts';
import type { SheetFormat } from '../sheet/formats.ts';
import { openBatchFolder, type BatchFolder } from '../store/batch-folders.ts';
import { stemOf } from './batch-id.ts';
import type { BatchRequest } from './batch-request.ts';
import { checkName, refusePast } from './batch-spec.ts';
import type { CreatedBatch } from './make-batch.ts';
import { propose, type Needed, type ProposalSource } from './propose.ts';
import { answersTo, asOption, type ReuseWish, type Wording } from './questions.ts';
import { nameOf, ofOther } from './reuse/reuse.ts';
import { placeReused } from './reuse/reuse-rows.ts';
import { settle } from './settle.ts';
import { readableSheet, sheetAt, sheetNameAt } from './sheet-address.ts';

export type BatchCall = {
  /** A path, or a file, http, https or s3 URL. */
  readonly sheet: string;
  /** Instead of what is at the address: the results of a batch. */
  readonly from?: Extract<ProposalSource, { readonly from: object }>['from'];
  /** Default: by the name of the sheet, else by its first character. */
  readonly format?: SheetFormat;
  /** Names the call: the same id means the same batch. */
  readonly callId: string;
  /** With a `name` the batch has exactly this name. */
  readonly request: Omit<BatchRequest, 'service' | 'again' | 'madeFor'>;
  /** Default: the service of the worker's settings. */
  readonly service?: 'local';
  /** How to treat rows that earlier batches have (default: refuse the sheet). */
  readonly reuse?: ReuseWish;
  /** Only find the batch that an earlier call with this id has made. */
  readonly findOnly?: true;
  /** How its door writes answers down (default: as options of a program). */
  readonly wording?: Wording;
  /** The job file that has written the request. */
  readonly job?: string;
};

export type Maker = {
  readonly config: Config;
  readonly download: Download;
  readonly signal: AbortSignal;
  /** Whether the worker belongs to embedded servers: only their owner starts workflows there, and they have a local run service. */
  readonly isEmbedded: boolean;
  /** Finds pools, and batches of the same rows whose folder is elsewhere. */
  readonly servers: Needed;
};

/**
 * Throws the errors of the sheet and of the service, the errors of questions that the call does not answer, E540 without the pool, E602 for a name that is taken or
 * impossible and for settings out of bounds; the reason of the signal if it aborts before the batch exists.
 */
export async function createOnce(maker: Maker, call: BatchCall): Promise<BatchFolder | undefined> {
  const { out } = maker.config;
  checkName(call.request.name);
  // Drawn once for the id: the sheet may have another name when the call is repeated.
  const drawn = { content: `key-${hash('sha256', call.callId, 'hex')}`, batch: nameFor(call) };
  const name = call.request.name ?? (await nameOf(out, drawn));
  const made = await findMade(out, name, call.callId);
  if (made === undefined && call.findOnly) return undefined;
  const batch = made ?? (await create(maker, call, name));
  await placeReused(batch);
  return batch;
}

const KEY_DIGITS = 12;

/** `prompts-5f0c2a91be77`: the name of the sheet, and the hash of the id. */
const nameFor = ({ sheet, callId }: BatchCall): string =>
  `${stemOf(sheetNameAt(sheet))}-${hash('sha256', callId, 'hex').slice(0, KEY_DIGITS)}`;

async function findMade(out: string, name: string, callId: string): Promise<BatchFolder | undefined> {
  const batch = await openBatchFolder(out, name);
  if (batch !== undefined && batch.file.madeFor !== callId) throw ofOther(batch);
  return batch;
}

async function create(maker: Maker, call: BatchCall, name: string): Promise<BatchFolder> {
  const { config, signal, servers } = maker;
  const { request, callId, reuse } = call;
  refusePast(request.settings);
  const service = serviceOf(maker, call);
  const source = call.from === undefined ? sheetOf(maker, call, service) : { from: call.from };
  const answers = { ...request.answers, ...answersTo(reuse) };
  const around = { config, signal, isCluster: () => true, servers: async () => servers };
  try {
    await using proposal = await propose(
      { ...request, name, service, again: false, madeFor: callId, answers },
      source,
      around,
    );
    // Awaited here, because the proposal is disposed of on return.
    return (await settle(proposal, { wording: call.wording ?? asOption })) as CreatedBatch;
  } catch (error) {
    // An earlier call whose worker was cut off may have made it meanwhile, of an older sheet.
    const made = await findMade(config.out, name, callId);
    if (made !== undefined) return made;
    throw error;
  }
}

function sheetOf(
  maker: Maker,
  { sheet: address, format, request, job }: BatchCall,
  service: Spoken,
): ProposalSource {
  const { config, download, signal, isEmbedded } = maker;
  const base = service.base === LOCAL ? (localService(config.home)?.base ?? LOCAL) : service.base;
  const located = sheetAt(address, { download, signal, service: base });
  const sheet = isEmbedded ? located : readableSheet(address, located, config);
  const { sheet: page } = request.options;
  return {
    path: sheet.path,
    copying: {
      ...sheet,
      ...(format && { format }),
      ...(page && { sheet: page }),
      ...(job !== undefined && { job }),
      ...(isEmbedded ? {} : { within: config }),
    },
  };
}

/** Throws E305 if no service is set, and E602 for a local one that may not be used. */
function serviceOf({ config, isEmbedded }: Maker, { service }: BatchCall): Spoken {
  if (service === LOCAL) {
    if (isEmbedded) return { base: LOCAL, api: 'v2' };
    throw problem('E602', {
      what: 'this worker may not use the local run service: only the embedded servers start one',
      hint: 'set RUNSHEET_API_URL and RUNSHEET_API_KEY where the worker runs, and create the schedule again without --local',
    });
  }
  if (config.apiUrl === undefined) throw problem('E305', {});
  return { base: config.apiUrl, api: config.api };
}
