// The style and the script of a page, as bin/pages.mjs builds them. A package carries the files; a clone builds them when a source
// has changed. Node runs no TSX, so no module here may import a source of theirs.

import { readFile } from 'node:fs/promises';

export type PageFiles = { readonly style: string; readonly script: string };
type PageName = 'dashboard' | 'report';

const IS_CLONE = import.meta.url.endsWith('.ts');
const IN_PACKAGE = new URL('../../pages/', import.meta.url);
const BUILDER = new URL('../../bin/pages.mjs', import.meta.url).href;

type Builder = { pagesOfClone(): Promise<Readonly<Record<PageName, PageFiles>>> };

/** Read once: the pages of a process do not change while it runs. */
const readings = new Map<PageName, Promise<PageFiles>>();

export function pageFiles(page: PageName): Promise<PageFiles> {
  const reading = readings.get(page) ?? (IS_CLONE ? filesOfClone(page) : filesOfPackage(page));
  readings.set(page, reading);
  // A failed read is tried again by the next caller.
  reading.catch(() => readings.delete(page));
  return reading;
}

async function filesOfClone(page: PageName): Promise<PageFiles> {
  const { pagesOfClone } = (await import(BUILDER)) as Builder;
  return (await pagesOfClone())[page];
}

async function filesOfPackage(page: PageName): Promise<PageFiles> {
  const read = (ending: string) => readFile(new URL(`${page}.${ending}`, IN_PACKAGE), 'utf8');
  const [style, script] = await Promise.all([read('css'), read('js')]);
  return { style, script };
}
