// Gives the files of a batch addresses that the run service can read: they are uploaded, or if the service takes no files, they are
// the addresses of the outputs.

import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { problem } from '../../errors/error.ts';
import { addressExpiryMs } from '../../run-service/address-expiry.ts';
import type { RememberingService } from '../../run-service/remembering.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { WantedFile } from './source-rows.ts';
import type { UploadMemory } from './upload-memory.ts';

type AddressParams = {
  readonly found: BatchFolder;
  readonly service: Pick<RememberingService, 'sendFile' | 'getRun'>;
  readonly memory: UploadMemory;
  /** When the batch stops sending, if it does. */
  readonly deadlineAt: number | undefined;
};

/** An address that ends sooner is no use. */
const USEFUL_MS = 600_000;

export class OutputAddresses {
  readonly #params: AddressParams;
  readonly #inFlight = new Map<string, Promise<string>>();
  #takesFiles = true;
  uploaded = 0;
  /** When the first of the addresses expires. */
  endsAt: number | undefined;

  constructor(params: AddressParams) {
    this.#params = params;
  }

  /** The address of an earlier upload. */
  known({ sha256 }: WantedFile): string | undefined {
    const { memory, deadlineAt } = this.#params;
    const address = memory.get(sha256);
    const end = address === undefined ? undefined : addressExpiryMs(address);
    return end !== undefined && end < (deadlineAt ?? Date.now() + USEFUL_MS) ? undefined : address;
  }

  /** Throws E504 for a file that has changed, E554 if the address expires too early, E555 if there is none. */
  async of(file: WantedFile): Promise<string> {
    const known = this.known(file);
    const { sha256 } = file;
    const finding = this.#inFlight.get(sha256) ?? this.#find(file, known);
    this.#inFlight.set(sha256, finding);
    try {
      return this.#checked(await finding);
    } finally {
      this.#inFlight.delete(sha256);
    }
  }

  async #find(file: WantedFile, known: string | undefined): Promise<string> {
    if (known !== undefined) return known;
    if (!this.#takesFiles) return this.#atService(file);
    const { service, memory } = this.#params;
    const useless = memory.get(file.sha256);
    const address = await service.sendFile({
      name: basename(file.path),
      bytes: file.bytes,
      open: () => this.#content(file),
    });
    if (address === undefined) {
      this.#takesFiles = false;
      return this.#atService(file);
    }
    this.uploaded += 1;
    return memory.add(file.sha256, address, useless);
  }

  /** Ends with an error if the file is not the one that its row made. */
  async *#content({ path, bytes, sha256 }: WantedFile): AsyncGenerator<Uint8Array> {
    const { store } = this.#params.found;
    const hash = createHash('sha256');
    let read = 0;
    try {
      for await (const chunk of store.open(path) as AsyncIterable<Uint8Array>) {
        read += chunk.byteLength;
        hash.update(chunk);
        if (read <= bytes) yield chunk;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw problem('E504', { what: `${store.location} has no ${path} any more` }, { cause: error });
    }
    if (hash.digest('hex') !== sha256)
      throw problem('E504', { what: `${store.location}/${path} is not the file that its run made` });
  }

  async #atService({ path, run, nth }: WantedFile): Promise<string> {
    const { service, found } = this.#params;
    const facts = { file: path, batch: found.batch };
    const own = 'the run service takes no files';
    if (run === '')
      throw problem('E555', { ...facts, why: `${own}, and another batch bought the run that made it` });
    const outputs = (await service.getRun(run))?.outputs.flatMap(({ files }) => files);
    const address = outputs?.[nth - 1]?.url;
    if (address === undefined)
      throw problem('E555', { ...facts, why: `${own}, and no longer shows the run ${run} that made it` });
    return address;
  }

  #checked(address: string): string {
    const end = addressExpiryMs(address);
    if (end === undefined) return address;
    const { deadlineAt } = this.#params;
    if (deadlineAt === undefined || deadlineAt > end) throw expires(end, this.#takesFiles);
    this.endsAt = Math.min(end, this.endsAt ?? end);
    return address;
  }
}

function expires(end: number, isUploaded: boolean) {
  const minutes = Math.max(1, Math.floor((end - Date.now()) / 60_000) - 5);
  const deadline = `${minutes}m`;
  return problem(
    'E554',
    { at: new Date(end).toISOString(), what: isUploaded ? 'uploaded files' : 'outputs', deadline },
    { correction: { add: [['--deadline', deadline]] } },
  );
}
