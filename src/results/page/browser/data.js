// What the page carries or loads: compressed columns of all rows, files with the full cells of some thousand rows, and which rows
// have a small copy of their picture. The last files that were used stay in memory.

/** @import { ShownRow } from '../report-row.ts' */
/** @typedef {Readonly<Record<string, Uint8Array | Uint32Array | readonly (string | number)[]>>} Columns */
/** @typedef {(row: number) => Promise<ShownRow | undefined>} ReadDetail */

const FILES_KEPT = 8;

/** Not through a Blob: its bytes would travel to the browser's process and back, which waits for the processor where others have it. @param {string} base64 of raw deflate */
async function inflated(base64) {
  const { readable, writable } = new DecompressionStream('deflate-raw');
  const writer = writable.getWriter();
  const content = new Response(readable).arrayBuffer();
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  await Promise.all([writer.write(bytes), writer.close(), content]);
  return content;
}

/** All columns of the page; their elements are removed, because their text takes as much memory as the columns. @returns {Promise<Columns>} */
export async function readColumns() {
  const elements = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('script.column')]);
  const reading = elements.map(async (element) => {
    const { name = '', bytes } = element.dataset;
    const text = element.textContent ?? '';
    element.remove();
    const buffer = await inflated(text);
    if (bytes === '0') return [name, new TextDecoder().decode(buffer).split('\n')];
    return [name, bytes === '1' ? new Uint8Array(buffer) : new Uint32Array(buffer)];
  });
  return Object.fromEntries(await Promise.all(reading));
}

/** @type {(rowsEach: number) => { read: ReadDetail, file: (number: number) => Promise<ShownRow[] | undefined> }} */
export function detailFiles(rowsEach) {
  /** @type {Map<number, Promise<ShownRow[] | undefined>>} the last used one is the last */
  const kept = new Map();
  const file = (number) => {
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
  return jsonIn(`rows/${String(number).padStart(5, '0')}.js`);
}

/** Which rows have a small copy of their picture; empty if none has. */
export const smallCopies = async () => new Uint8Array((await contentOf('small.js')) ?? new ArrayBuffer());

/** undefined if the script is missing or has nothing. @param {string} name */
export async function jsonIn(name) {
  const content = await contentOf(name);
  return content && JSON.parse(new TextDecoder().decode(content));
}

/** What waits for a script. @type {Map<unknown, (base64: string) => void>} */
const waiting = new Map();
const take = (...given) => waiting.get(document.currentScript)?.(given.at(-1));
Object.assign(globalThis, { runsheetRows: take, runsheetSmall: take });

/** @type {(name: string) => Promise<ArrayBuffer | undefined>} */
async function contentOf(name) {
  const script = Object.assign(document.createElement('script'), { src: `report/${name}` });
  /** @type {string} */
  const base64 = await new Promise((resolve) => {
    waiting.set(script, resolve);
    script.addEventListener('error', () => resolve(''));
    document.head.append(script);
  });
  script.remove();
  waiting.delete(script);
  return base64 === '' ? undefined : inflated(base64);
}
