// The texts that the cells of a workbook share, as bytes: a Map of strings would need several times the memory.

import { joined, readXml } from './xml-parts.ts';
import { tooLarge, type Zip } from './zip-parts.ts';

const MAX_BYTES = 256 * 1024 ** 2;

export class SharedStrings {
  #bytes = Buffer.alloc(64 * 1024);
  #used = 0;
  #ends = new Uint32Array(1024);
  #count = 0;

  static async read(file: string, zip: Zip, part: string): Promise<SharedStrings> {
    const strings = new SharedStrings();
    const text = new RichText(file);
    await readXml(file, await zip.part(part), {
      open: (name) => {
        if (name === 'si') text.clear();
        else text.open(name);
      },
      text: (piece) => text.add(piece),
      close: (name) => {
        text.close(name);
        if (name === 'si') strings.#add(file, text.value);
      },
    });
    return strings;
  }

  at(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }

  #add(file: string, text: string): void {
    const end = this.#used + Buffer.byteLength(text);
    if (end > MAX_BYTES) throw tooLarge(file, 'has more than 256 MiB of text');
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(end, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    this.#bytes.write(text, this.#used);
    this.#used = end;
    if (this.#count === this.#ends.length) {
      const larger = new Uint32Array(this.#count * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.#count] = end;
    this.#count += 1;
  }
}

/** Joins the runs of a formatted text; the phonetic guide of a Japanese text is not part of it. */
export class RichText {
  value = '';
  readonly #file: string;
  #isText = false;
  #phonetic = 0;

  constructor(file: string) {
    this.#file = file;
  }

  clear(): void {
    this.value = '';
    this.#isText = false;
    this.#phonetic = 0;
  }

  open(name: string): void {
    if (name === 'rPh') this.#phonetic += 1;
    if (name === 't') this.#isText = this.#phonetic === 0;
  }

  add(text: string): void {
    if (this.#isText) this.value = joined(this.#file, this.value, text);
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic -= 1;
    if (name === 't') this.#isText = false;
  }
}
