// Compresses a stream of bytes as it comes (raw deflate, RFC 1951), so that memory holds only the compressed bytes. Each block ends
// at a byte boundary, so blocks can be joined. Other threads compress a few of them at a time.

import { promisify } from 'node:util';
import { constants, deflateRaw, deflateRawSync } from 'node:zlib';

const deflate = promisify(deflateRaw);
const OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH };
/** Blocks on other threads, of all streams: uncompressed ones take memory, and files are read by the same threads. */
const MAX_ELSEWHERE = 2;
let elsewhere = 0;

const BLOCK_BYTES = 128 * 1024;
/** An empty last block. */
const END = Buffer.from([3, 0]);

export class Deflated {
  readonly #blocks: Promise<Buffer>[] = [];
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;

  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > BLOCK_BYTES) {
      this.#flush();
      this.#compress(Buffer.from(text));
      return;
    }
    if (this.#used + bytes > BLOCK_BYTES) this.#flush();
    this.#used += this.#block.write(text, this.#used);
  }

  uint8(value: number): void {
    if (this.#used + 1 > BLOCK_BYTES) this.#flush();
    this.#used = this.#block.writeUInt8(value & 255, this.#used);
  }

  /** Little-endian, modulo 2^32. */
  uint32(value: number): void {
    if (this.#used + 4 > BLOCK_BYTES) this.#flush();
    this.#used = this.#block.writeUInt32LE(value >>> 0, this.#used);
  }

  /** The compressed bytes as base64; nothing can be added afterwards. */
  async base64(): Promise<string> {
    this.#flush();
    return Buffer.concat([...(await Promise.all(this.#blocks)), END]).toString('base64');
  }

  #flush(): void {
    if (this.#used === 0) return;
    this.#compress(this.#block.subarray(0, this.#used));
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#used = 0;
  }

  #compress(bytes: Uint8Array): void {
    const block =
      elsewhere < MAX_ELSEWHERE ? onThread(bytes) : Promise.resolve(deflateRawSync(bytes, OPTIONS));
    // `base64` awaits the block and throws its error; without this handler, an earlier failure would end the process.
    block.catch(() => undefined);
    this.#blocks.push(block);
  }
}

async function onThread(bytes: Uint8Array): Promise<Buffer> {
  elsewhere += 1;
  try {
    return await deflate(bytes, OPTIONS);
  } finally {
    elsewhere -= 1;
  }
}
