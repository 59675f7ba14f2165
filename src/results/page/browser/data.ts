// The data that the page carries or loads: compressed columns of all rows, files with the full cells of some thousand rows, and which rows
// have a small copy of their picture. The last files that were used stay in memory.

import type { ShownRow } from '../report-row.ts';

export type Columns = Readonly<Record<string, Uint8Array | Uint32Array | readonly (string | number)[]>>;
export type ReadDetail = (row: number) => Promise<ShownRow | undefined>;
export type ReadFile = (number: number) => Promise<readonly ShownRow[] | undefined>;

const FILES_KEPT = 8;

/** Inflates base64 of raw deflate. A Blob would make a round trip through the browser's process, slow on a busy machine. */
async function inflated(base64: string): Promise<ArrayBuffer> {
  const { readable, writable } = new DecompressionStream('deflate-raw');
  const writer = writable.getWriter();
  const content = new Response(readable).arrayBuffer();
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  await Promise.all([writer.write(bytes), writer.close(), content]);
  return content;
}

/** The columns of the page; their elements are removed, because their text takes as much memory as the columns. */
export async function readColumns(): Promise<Columns> {
  const elements = [...document.querySelectorAll<HTMLElement>('script.column')];
  const reading = elements.map(async (element) => {
    const { name = '', bytes } = element.dataset;
    const text = element.textContent ?? '';
    element.remove();
    const buffer = await inflated(text);
    if (bytes === '0') return [name, new TextDecoder().decode(buffer).split('\n')] as const;
    return [name, bytes === '1' ? new Uint8Array(buffer) : new Uint32Array(buffer)] as const;
  });
  return Object.fromEntries(await Promise.all(reading));
}

export function detailFiles(rowsEach: number): { read: ReadDetail; file: ReadFile } {
  /** In the order of their last use. */
  const kept = new Map<number, ReturnType<ReadFile>>();
  const file: ReadFile = (number) => {
    const rows = kept.get(number) ?? rowsOf(number);
    kept.delete(number);
    kept.set(number, rows);
    for (const [oldest] of kept) if (kept.size > FILES_KEPT) kept.delete(oldest);
    return rows;
  };
  return { file, read: async (row) => (await file(Math.floor(row / rowsEach) + 1))?.[row % rowsEach] };
}

/** undefined if the file is missing. */
const rowsOf: ReadFile = (number) => jsonIn(`rows/${String(number).padStart(5, '0')}.js`);

/** Says for each row whether its picture has a small copy; empty if none has. */
export const smallCopies = async (): Promise<Uint8Array> =>
  new Uint8Array((await contentOf('small.js')) ?? new ArrayBuffer());

/** undefined if the script is missing or has nothing. */
export async function jsonIn<Value>(name: string): Promise<Value | undefined> {
  const content = await contentOf(name);
  return content && (JSON.parse(new TextDecoder().decode(content)) as Value);
}

/** The scripts that are loading, each with the function that takes its data. */
const waiting = new Map<unknown, (base64: string) => void>();
const take = (...values: readonly (number | string)[]) =>
  waiting.get(document.currentScript)?.(String(values.at(-1)));
// Each loaded script calls one of these with its data as the last argument.
Object.assign(globalThis, { runsheetRows: take, runsheetSmall: take });

async function contentOf(name: string): Promise<ArrayBuffer | undefined> {
  const script = Object.assign(document.createElement('script'), { src: `report/${name}` });
  const base64 = await new Promise<string>((resolve) => {
    waiting.set(script, resolve);
    script.addEventListener('error', () => resolve(''));
    document.head.append(script);
  });
  script.remove();
  waiting.delete(script);
  return base64 === '' ? undefined : inflated(base64);
}
