// The style and the script of a page, as bin/pages.mjs builds them. A package carries the files; a clone builds them when a source
// has changed. Node runs no TSX, so no module here may import a source of theirs.

import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

type Built = { readonly style: string; readonly script: string };
/** `sources`: what a content security policy allows by its hash. */
export type PageFiles = Built & { readonly sources: Built };
type PageName = 'dashboard' | 'report';

const IS_CLONE = import.meta.url.endsWith('.ts');
const IN_PACKAGE = new URL('../../pages/', import.meta.url);
const BUILDER = new URL('../../bin/pages.mjs', import.meta.url).href;

type Builder = { pagesOfClone(): Promise<Readonly<Record<PageName, Built>>> };

/** Read once: the pages of a process do not change while it runs. */
const readings = new Map<PageName, Promise<PageFiles>>();

export function pageFiles(page: PageName): Promise<PageFiles> {
  const reading = readings.get(page) ?? read(page);
  readings.set(page, reading);
  // A failed read is tried again by the next caller.
  reading.catch(() => readings.delete(page));
  return reading;
}

async function read(page: PageName): Promise<PageFiles> {
  const { style, script } = await (IS_CLONE ? filesOfClone(page) : filesOfPackage(page));
  return { style, script, sources: { style: sourceOf(style), script: sourceOf(script) } };
}

const sourceOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

async function filesOfClone(page: PageName): Promise<Built> {
  const { pagesOfClone } = (await import(BUILDER)) as Builder;
  return (await pagesOfClone())[page];
}

async function filesOfPackage(page: PageName): Promise<Built> {
  const part = (ending: string) => readFile(new URL(`${page}.${ending}`, IN_PACKAGE), 'utf8');
  const [style, script] = await Promise.all([part('css'), part('js')]);
  return { style, script };
}
