// The pages of a report and of a comparison: their style, their frame, and their script, which is joined from the files in `page`.
// Those are checked as modules; the page itself can load none, because it is opened from a folder.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { htmlJson, markupText } from '../../errors/outside-text.ts';
import type { Blob } from './report-index.ts';

/** In this order: a file comes after those that it uses. */
const REPORT = [
  'dom',
  'text',
  'controls',
  'decode',
  'attempts',
  'table',
  'arrange',
  'details',
  'picks',
  'pictures',
  'media',
  'cards',
  'gallery',
  'row-parts',
  'viewer',
  'enlarged',
  'head',
  'toolbar',
  'attempt-bars',
  'time-chart',
  'cost-tables',
  'live',
  'main',
];
const COMPARISON = [
  'dom',
  'text',
  'controls',
  'decode',
  'pictures',
  'media',
  'pair-list',
  'pair-card',
  'pair-grid',
  'overlay',
  'viewer',
  'pair-view',
  'compare',
];

const PAGES = {
  report: { name: 'report', scripts: REPORT },
  comparison: { name: 'compare', scripts: COMPARISON },
};
export type PageName = keyof typeof PAGES;

type PageSource = {
  readonly style: string;
  readonly body: string;
  readonly script: string;
  /** The content security policy; `isServed`: the page may ask its own server. */
  policy(isServed: boolean): string;
};

const known = new Map<PageName, PageSource>();

/** Reads the files once. */
export function pageSource(name: PageName): PageSource {
  const source = known.get(name) ?? readPage(name);
  known.set(name, source);
  return source;
}

function readPage(page: PageName): PageSource {
  const { name, scripts } = PAGES[page];
  const style = `\n${read('style.css')}${read(`${name}.css`)}`;
  const modules = scripts.map((one) => scriptOf(`${one}.js`, read(`${one}.js`)));
  const script = `\n'use strict';\n(() => {\nconst modules = {};\n${modules.join('\n')}\n})();\n`;
  return {
    style,
    script,
    body: `${read(`${name}.html`)}${read('viewer.html')}`,
    policy: (isServed) =>
      [
        "default-src 'none'",
        "img-src 'self' file: data:",
        "media-src 'self' file:",
        `style-src '${digestOf(style)}'`,
        // What this script loads may run; nothing that stands in the page's markup may.
        `script-src '${digestOf(script)}' 'strict-dynamic'`,
        ...(isServed ? ["connect-src 'self'"] : []),
        "base-uri 'none'",
        "form-action 'none'",
      ].join('; '),
  };
}

/** A module as a function with a scope of its own, which takes what it imports from `modules`. */
function scriptOf(name: string, module: string): string {
  const exported = [...module.matchAll(EXPORT)].map(([, what]) => what);
  const body = module
    .replaceAll(IMPORT, (_, names: string, from: string) => `const {${names}} = modules['${from}'];\n`)
    .replaceAll(/^export /gm, '');
  return `modules['${name}'] = (() => {\n${body}return { ${exported.join(', ')} };\n})();`;
}

const IMPORT = /^import \{([^}]*)\} from '\.\/([^']+)';\n/gm;
const EXPORT = /^export (?:async )?(?:const|function|class) (\w+)/gm;

const read = (name: string): string => readFileSync(join(import.meta.dirname, 'browser', name), 'utf8');

const digestOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

// The frame of a page that opens offline: its style, script and policy, and what it knows as data.

type HtmlPage = {
  readonly name: PageName;
  readonly title: string;
  readonly facts: object;
  readonly blobs: Iterable<Blob> | AsyncIterable<Blob>;
  /** It asks its server for rows. */
  readonly isServed?: boolean;
};

/** The page in pieces. Facts and blobs are data in it, never markup. */
export async function* htmlPage({
  name,
  title,
  facts,
  blobs,
  isServed = false,
}: HtmlPage): AsyncGenerator<string> {
  const { style, body, script, policy } = pageSource(name);
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="runsheet ${name}">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${policy(isServed)}">
<link rel="icon" href="${ICON}">
<title>${markupText(title)}</title>
<style>${style}</style>
</head>
${body}<script type="application/json" id="data">${htmlJson(facts)}</script>
`;
  for await (const { name: column, bytesEach, data } of blobs)
    yield `<script type="text/plain" class="column" data-name="${column}" data-bytes="${bytesEach}">${data}</script>\n`;
  yield `<script>${script}</script>\n</html>\n`;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%233b8f5a' d='M1 1h6v6H1zM9 1h6v6H9zM1 9h6v6H1z'/%3E%3Cpath fill='%23b27a12' d='M9 9h6v6H9z'/%3E%3C/svg%3E";
