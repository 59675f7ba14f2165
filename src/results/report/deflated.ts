// Compresses a stream of bytes as it comes (raw deflate, RFC 1951), so that memory holds only the compressed bytes. Each block ends
// at a byte boundary, so blocks can be joined.

import { constants, deflateRawSync } from 'node:zlib';

const BLOCK_BYTES = 128 * 1024;
/** An empty last block. */
const END = Buffer.from([3, 0]);

export class Deflated {
  readonly #blocks: Buffer[] = [];
  readonly #block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
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
  base64(): string {
    this.#flush();
    return Buffer.concat([...this.#blocks, END]).toString('base64');
  }

  #flush(): void {
    if (this.#used === 0) return;
    this.#compress(this.#block.subarray(0, this.#used));
    this.#used = 0;
  }

  #compress(bytes: Uint8Array): void {
    this.#blocks.push(deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }));
  }
}
