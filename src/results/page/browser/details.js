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
  const content = await contentOf(`rows/${name}`, number);
  return content && JSON.parse(new TextDecoder().decode(content));
}

/** Which rows have a small copy of their picture; empty if none has. */
export const smallCopies = async () => new Uint8Array((await contentOf('small', 0)) ?? new ArrayBuffer());

/** What waits for a script, by its number; 0: that of the small copies. @type {Map<number, (base64: string) => void>} */
const waiting = new Map();
Object.assign(globalThis, {
  runsheetRows: (/** @type {number} */ number, /** @type {string} */ base64) => waiting.get(number)?.(base64),
  runsheetSmall: (/** @type {string} */ base64) => waiting.get(0)?.(base64),
});

/** undefined if the script is missing or has nothing. @type {(name: string, number: number) => Promise<ArrayBuffer | undefined>} */
async function contentOf(name, number) {
  const script = make('script', { src: `report/${name}.js` });
  /** @type {string} */
  const base64 = await new Promise((resolve) => {
    waiting.set(number, resolve);
    script.onerror = () => resolve('');
    document.head.append(script);
  });
  script.remove();
  return base64 === '' ? undefined : inflated(base64);
}

/** Asks the local server. @type {() => ReadDetail} */
export const servedDetails = () => async (row) => {
  const answer = await fetch(`detail?row=${row + 1}`);
  return answer.ok ? answer.json() : undefined;
};
