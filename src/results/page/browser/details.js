// The full cells of a row. They lie beside the page in files of some thousand rows, which are loaded when one of their rows is
// shown, or come from the local server. The last ones that were used stay in memory.

import { make } from './dom.js';
import { inflated } from './decode.js';

/** @import { ShownRow } from '../report-row.ts' */

/** @typedef {(row: number) => Promise<ShownRow | undefined>} ReadDetail */

const FILES_KEPT = 8;

/** @type {(rowsEach: number) => { read: ReadDetail, file: (number: number) => Promise<ShownRow[] | undefined> }} */
export function detailFiles(rowsEach) {
  /** @type {Map<number, Promise<ShownRow[] | undefined>>} the last used one is the last */
  const kept = new Map();
  const file = (/** @type {number} */ number) => {
    const known = kept.get(number) ?? rowsOf(number);
    kept.delete(number);
    kept.set(number, known);
    for (const [oldest] of kept) if (kept.size > FILES_KEPT) kept.delete(oldest);
    return known;
  };
  return { file, read: async (row) => (await file(Math.floor(row / rowsEach) + 1))?.[row % rowsEach] };
}

/** @type {(number: number) => Promise<ShownRow[] | undefined>} undefined if the file is missing */
async function rowsOf(number) {
  const name = String(number).padStart(5, '0');
  const content = await contentOf(`rows/${name}`, 'runsheetRows', number);
  return content && JSON.parse(new TextDecoder().decode(content));
}

/** Which rows have a small copy of their picture; empty if none has. */
export const smallCopies = async () =>
  new Uint8Array((await contentOf('small', 'runsheetSmall')) ?? new ArrayBuffer());

/** @type {Map<string, (base64: string) => void>} */
const waiting = new Map();

/** Loads a script that calls a function with the rest of what it has; undefined if there is none.
 * @type {(name: string, callback: string, ...first: number[]) => Promise<ArrayBuffer | undefined>}
 */
async function contentOf(name, callback, ...first) {
  const script = make('script', { src: `report/${name}.js` });
  const call = (/** @type {unknown[]} */ ...given) =>
    waiting.get([callback, ...given.slice(0, -1)].join(' '))?.(String(given.at(-1)));
  Object.assign(globalThis, { [callback]: call });
  /** @type {string | undefined} */
  const base64 = await new Promise((resolve) => {
    waiting.set([callback, ...first].join(' '), resolve);
    script.onerror = () => resolve(undefined);
    document.head.append(script);
  });
  script.remove();
  return base64 ? inflated(base64) : undefined;
}

/** Asks the local server. @type {() => ReadDetail} */
export const servedDetails = () => async (row) => {
  const answer = await fetch(`detail?row=${row + 1}`);
  return answer.ok ? answer.json() : undefined;
};
