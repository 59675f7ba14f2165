// Checks whether an output is delivered (R32): not empty, not cut off, and of the kind that was promised.

import { kindFault, type Promised } from './output-kind.ts';
import { formatOf, FORMAT_BYTES, type EndDetector, type Format } from './truncation.ts';

const HEAD_BYTES = 1 << 16;

export type OutputCheck = ReturnType<typeof outputCheck>;

export function outputCheck(promised: Promised) {
  let bytes = 0;
  let head: Buffer = Buffer.of();
  let format: Format | undefined;
  let ending: EndDetector | undefined;
  let isFormatKnown = false;
  return {
    add(chunk: Uint8Array): void {
      const before = head;
      if (before.length < HEAD_BYTES)
        head = Buffer.concat([before, chunk.subarray(0, HEAD_BYTES - before.length)]);
      bytes += chunk.byteLength;
      if (isFormatKnown) return ending?.add(chunk);
      if (bytes < FORMAT_BYTES) return;
      isFormatKnown = true;
      format = formatOf(head);
      ending = format?.ending(head);
      if (before.length > 0) ending?.add(before);
      ending?.add(chunk);
    },
    /** After the last chunk: why the file is not delivered; undefined if it is. */
    async fault(): Promise<string | undefined> {
      if (bytes === 0) return '0 bytes';
      // Most outputs are PNG; detecting further formats takes longer.
      const isPng = format?.name === 'PNG' && /\.png$/i.test(promised.name);
      const kindMismatch = isPng ? undefined : await kindFault(head, promised);
      const isWhole = ending?.isWhole(bytes) ?? true;
      return kindMismatch ?? (isWhole ? undefined : `the ${format?.name} is truncated`);
    },
  };
}
