// The full cells of a row. They lie beside the page in files of some thousand rows, which are loaded when one of their rows is
// shown, or come from the local server. The last ones that were used stay in memory.

import { make } from './dom.js';
import { inflated } from './decode.js';

/**
 * @typedef {object} Detail
 * @property {Record<string, string>} inputs
 * @property {Record<string, string>} data
 * @property {number} [more]
 * @property {string} [reason]
 * @property {Record<string, any>[]} attempts
 * @property {{ path: string, bytes: number, name: string }[]} files
 * @property {string[]} [texts]
 * @property {string} [reused]
 */

/** @typedef {(row: number) => Promise<Detail | undefined>} ReadDetail */

const FILES_KEPT = 8;

/**
 * @param {number} rowsEach
 * @returns {{ read: ReadDetail, file: (number: number) => Promise<Detail[] | undefined> }}
 */
export function detailFiles(rowsEach) {
  /** @type {Map<number, Promise<Detail[] | undefined>>} the last used one is the last */
  const kept = new Map();
  /** @type {Map<number, (base64: string) => void>} */
  const waiting = new Map();
  // Each file calls this with its rows.
  Object.assign(globalThis, {
    runsheetRows: (/** @type {number} */ number, /** @type {string} */ base64) =>
      waiting.get(number)?.(base64),
  });
  const file = (/** @type {number} */ number) => {
    const known = kept.get(number) ?? load(number, waiting);
    kept.delete(number);
    kept.set(number, known);
    for (const [oldest] of kept) {
      if (kept.size <= FILES_KEPT) break;
      kept.delete(oldest);
    }
    return known;
  };
  return { file, read: async (row) => (await file(Math.floor(row / rowsEach) + 1))?.[row % rowsEach] };
}

/**
 * @param {number} number
 * @param {Map<number, (base64: string) => void>} waiting
 * @returns {Promise<Detail[] | undefined>} undefined if the file is missing
 */
async function load(number, waiting) {
  const src = `report/rows/${String(number).padStart(5, '0')}.js`;
  const script = make('script', { src });
  /** @type {string | undefined} */
  const base64 = await new Promise((resolve) => {
    waiting.set(number, resolve);
    script.onerror = () => resolve(undefined);
    document.head.append(script);
  });
  waiting.delete(number);
  script.remove();
  if (base64 === undefined) return undefined;
  return JSON.parse(new TextDecoder().decode(await inflated(base64)));
}

/** Which rows have a small copy of their picture; empty if none has.
 * @returns {Promise<Uint8Array>}
 */
export async function smallCopies() {
  const script = make('script', { src: 'report/small.js' });
  /** @type {string} */
  const base64 = await new Promise((resolve) => {
    Object.assign(globalThis, { runsheetSmall: resolve });
    script.onerror = () => resolve('');
    document.head.append(script);
  });
  script.remove();
  return base64 === '' ? new Uint8Array() : new Uint8Array(await inflated(base64));
}

/** Asks the local server.
 * @returns {ReadDetail}
 */
export const servedDetails = () => async (row) => {
  const answer = await fetch(`detail?row=${row + 1}`);
  return answer.ok ? answer.json() : undefined;
};
