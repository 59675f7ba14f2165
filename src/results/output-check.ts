// Checks whether an output is delivered (R32): it is not empty, of the kind that was promised, and not cut off.

import { formatOf, FORMAT_BYTES } from './output-end.ts';
import { kindFault, type Promised } from './output-kind.ts';

const HEAD_BYTES = 1 << 16;

/** Takes the chunks of one file in order. */
export class OutputCheck {
  readonly #promised: Promised;
  #bytes = 0;
  #head: Buffer = Buffer.of();
  /** undefined until the format is known. */
  #end: { readonly name: string; isWhole(bytes: number): boolean; add(chunk: Uint8Array): void } | undefined;
  #isFormatKnown = false;

  constructor(promised: Promised) {
    this.#promised = promised;
  }

  add(chunk: Uint8Array): void {
    const before = this.#head;
    if (before.length < HEAD_BYTES)
      this.#head = Buffer.concat([before, chunk.subarray(0, HEAD_BYTES - before.length)]);
    this.#bytes += chunk.byteLength;
    if (this.#isFormatKnown) return this.#end?.add(chunk);
    if (this.#bytes < FORMAT_BYTES) return;
    this.#isFormatKnown = true;
    const format = formatOf(this.#head);
    if (format === undefined) return;
    const ending = format.ending(this.#head);
    this.#end = {
      name: format.name,
      add: (next) => ending.add(next),
      isWhole: (bytes) => ending.isWhole(bytes),
    };
    if (before.length > 0) ending.add(before);
    ending.add(chunk);
  }

  /** After the last chunk: why the file is not delivered; undefined if it is. */
  async fault(): Promise<string | undefined> {
    if (this.#bytes === 0) return '0 bytes';
    const other = await kindFault(this.#head, this.#promised);
    if (other !== undefined || this.#end === undefined) return other;
    return this.#end.isWhole(this.#bytes) ? undefined : `the ${this.#end.name} is truncated`;
  }
}
