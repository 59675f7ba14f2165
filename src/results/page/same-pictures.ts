// Finds rows whose inputs differ and whose first files are identical. Memory holds two numbers a row.

import { hash } from 'node:crypto';

/** Numbers that grow by doubling. */
class Numbers {
  #all = new BigUint64Array(1_024);
  length = 0;

  push(value: bigint): void {
    if (this.length === this.#all.length) {
      const larger = new BigUint64Array(this.#all.length * 2);
      larger.set(this.#all);
      this.#all = larger;
    }
    this.#all[this.length] = value;
    this.length += 1;
  }

  at(index: number): bigint {
    return this.#all[index] ?? 0n;
  }
}

export class SamePictures {
  readonly #files = new Numbers();
  readonly #inputs = new Numbers();

  /** Rows in order; a row without a file has no checksum. */
  add(sha256: string | undefined, inputs: string): void {
    this.#files.push(sha256 === undefined ? 0n : BigInt(`0x${sha256.slice(0, 16) || '0'}`));
    this.#inputs.push(sha256 === undefined ? 0n : BigInt(`0x${hash('sha1', inputs).slice(0, 16)}`));
  }

  /** For each row the number of its group, from 1; 0: no other row has the same picture with other inputs. */
  groups(): Uint32Array {
    const group = new Uint32Array(this.#files.length);
    const order = Uint32Array.from({ length: group.length }, (_, at) => at).sort((a, b) =>
      compare(this.#files.at(a), this.#files.at(b)),
    );
    let groups = 0;
    for (let start = 0, end = 0; start < order.length; start = end) {
      const [first = 0] = order.subarray(start, start + 1);
      const file = this.#files.at(first);
      let differs = false;
      for (end = start + 1; end < order.length && this.#files.at(order[end] ?? 0) === file; end += 1)
        differs ||= this.#inputs.at(order[end] ?? 0) !== this.#inputs.at(first);
      if (file === 0n || !differs) continue;
      groups += 1;
      for (const at of order.subarray(start, end)) group[at] = groups;
    }
    return group;
  }
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : Number(a > b));
