// Downloads the files of a succeeded run into the batch folder (R14): a row succeeds only if its files were
// downloaded. Retries a few times within seconds, with new addresses each time because they expire; the caller
// decides the row's outcome.

import { setTimeout as wait } from 'node:timers/promises';
import { definedOnly } from '../src/options/defined-only.ts';
import { errorMessage } from '../src/errors/error.ts';
import { shortened } from '../src/errors/outside-text.ts';
import { type OutputNames, outputStem } from '../src/results/output-paths.ts';
import type { FileRecord } from '../src/results/row-record.ts';
import type { OutputFile, Run } from '../src/service-client/contract/run.ts';
import { isTerminal } from '../src/service-client/contract/statuses.ts';
import type { Download } from '../src/host/http/download.ts';
import { EmptyRun, FEW_TRIES, FileFault, HostFault, ONE_TRY } from '../src/host/http/download-faults.ts';
import type { RememberingService } from '../src/service-client/remembering.ts';
import type { Store } from '../src/store/store.ts';
import { fetchFile } from './fetch-file.ts';
import { OUTPUT_LIMITS, type OutputLimits, textsWithin } from './output-limits.ts';

type DownloadDeps = {
  readonly download: Download;
  readonly limits?: OutputLimits;
};

export type WantedOutputs = {
  readonly store: Store;
  readonly service: Pick<RememberingService, 'base' | 'getRun' | 'forget'>;
  readonly runId: string;
  readonly names: OutputNames;
  /** After an abort nothing more is written, and the reason is thrown. */
  readonly signal: AbortSignal;
};

export type Delivery =
  | {
      readonly kind: 'delivered';
      readonly files: readonly FileRecord[];
      readonly texts: readonly string[];
      /** Names the texts that were cut, and why. */
      readonly note?: string;
    }
  /** A file is gone, refused or too large; or the run has no output at all. */
  | { readonly kind: 'file'; readonly reason: string; readonly isEmpty?: true }
  /** The file's host or the run service is down, slow or failing: nothing is known about the files. */
  | { readonly kind: 'host'; readonly host: string; readonly reason: string };

/** If the service does not show the run, the retries take most of a minute. */
const MANY_TRIES = 8;
const AGAIN_MS = 300;
const MAX_AGAIN_MS = 20_000;

/** Throws the store's errors, and the reason of the signal. */
export async function downloadOutputs(deps: DownloadDeps, wanted: WantedOutputs): Promise<Delivery> {
  const { service, runId, signal } = wanted;
  const outputs = new OutputDownload(deps, wanted);
  let host: HostFault | undefined;
  let had = 0;
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await outputs.tryOnce();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FileFault) && !(error instanceof HostFault)) throw error;
      if (outputs.delivered > had) [tries, host, had] = [1, undefined, outputs.delivered];
      if (error instanceof HostFault) host = error;
      if (tries >= error.tries) return verdict(error, host);
    }
    service.forget(runId);
    await wait(Math.min(MAX_AGAIN_MS, AGAIN_MS * 2 ** (tries - 1)), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    );
  }
}

/** If the host also failed in other ways, its answer that a file is gone is not trusted. */
function verdict(fault: FileFault | HostFault, erred: HostFault | undefined): Delivery {
  if (fault instanceof FileFault && (erred === undefined || fault.tries === ONE_TRY))
    return { kind: 'file', reason: fault.message, ...(fault instanceof EmptyRun ? { isEmpty: true } : {}) };
  const { host, message } = erred ?? (fault as HostFault);
  return { kind: 'host', host, reason: message };
}

type ListedFile = Pick<Run['outputs'][number], 'nodeId' | 'nodeTitle'> & { readonly file: OutputFile };

class OutputDownload {
  readonly #deps: DownloadDeps;
  readonly #wanted: WantedOutputs;
  readonly #limits: OutputLimits;
  /** The files that were downloaded, each with the address and name that the service gave for it. */
  readonly #delivered = new Map<number, { readonly source: string; readonly record: FileRecord }>();

  constructor(deps: DownloadDeps, wanted: WantedOutputs) {
    this.#deps = deps;
    this.#wanted = wanted;
    this.#limits = deps.limits ?? OUTPUT_LIMITS;
  }

  get delivered(): number {
    return this.#delivered.size;
  }

  async tryOnce(): Promise<Delivery> {
    const run = await this.#readRun();
    const listed = run.outputs.flatMap(({ files, nodeId, nodeTitle }) =>
      files.map((file) => ({ nodeId, nodeTitle, file })),
    );
    const texts = run.outputs.flatMap((output) => output.texts);
    if (listed.length + texts.length === 0) throw new EmptyRun();
    const { files: most } = this.#limits;
    if (listed.length > most)
      throw new FileFault(`the run has ${listed.length} files; the limit is ${most}`, ONE_TRY);
    const files: FileRecord[] = [];
    for (const [at, listedFile] of listed.entries())
      files.push(await this.#deliver(listedFile, at + 1, files));
    return { kind: 'delivered', files, ...textsWithin(texts, this.#limits) };
  }

  async #readRun(): Promise<Run> {
    const { service, runId } = this.#wanted;
    const run = await service.getRun(runId).catch((error: unknown) => {
      throw new HostFault(this.#serviceHost(), `the run cannot be read: ${errorMessage(error)}`, ONE_TRY);
    });
    if (run === undefined) throw new FileFault('the service no longer shows this run', MANY_TRIES);
    if (run.id !== runId)
      throw new HostFault(this.#serviceHost(), 'the service returned another run', FEW_TRIES);
    // Get Run has already confirmed the success, so a status that is not final is wrong and its outputs may be incomplete.
    if (!isTerminal(run.status))
      throw new HostFault(
        this.#serviceHost(),
        `the service shows the finished run as ${run.status}`,
        MANY_TRIES,
      );
    return run;
  }

  #serviceHost(): string {
    return URL.parse(this.#wanted.service.base)?.host ?? this.#wanted.service.base;
  }

  async #deliver(
    { nodeId, nodeTitle, file }: ListedFile,
    nth: number,
    before: readonly FileRecord[],
  ): Promise<FileRecord> {
    const source = sourceOf(nodeId, file);
    const delivered = this.#delivered.get(nth);
    if (delivered?.source === source) return delivered.record;
    const { store, service, names, signal } = this.#wanted;
    const fetched = await fetchFile({
      download: this.#deps.download,
      store,
      service: service.base,
      file,
      stem: outputStem(names, nth),
      limit: this.#limitAfter(before),
      signal,
    }).catch((error: unknown) => {
      throw located(error, nth, file);
    });
    const record = { ...fetched, ...definedOnly({ node: nodeId, title: nodeTitle }) };
    this.#delivered.set(nth, { source, record });
    return record;
  }

  #limitAfter(before: readonly FileRecord[]): { readonly bytes: number; readonly reason: string } {
    const { fileBytes, runBytes } = this.#limits;
    const left = runBytes - before.reduce((sum, { bytes }) => sum + bytes, 0);
    return left < fileBytes
      ? { bytes: left, reason: `the files of the run exceed ${gigabytes(runBytes)} in total` }
      : { bytes: fileBytes, reason: `it is larger than ${gigabytes(fileBytes)}` };
  }
}

const gigabytes = (bytes: number): string => `${Number((bytes / 2 ** 30).toFixed(2))} GiB`;

/** The part of a file's description that does not change when its address is signed again. */
function sourceOf(nodeId: string | undefined, { url, filename }: OutputFile): string {
  const address = URL.parse(url);
  return JSON.stringify([nodeId, filename, address?.host, address?.pathname]);
}

function located(error: unknown, nth: number, { filename }: OutputFile): unknown {
  const reason = (message: string): string => `file ${nth} (${shortened(filename, 60)}): ${message}`;
  if (error instanceof FileFault) return new FileFault(reason(error.message), error.tries);
  if (error instanceof HostFault) return new HostFault(error.host, reason(error.message), error.tries);
  return error;
}
