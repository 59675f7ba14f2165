// The page of a batch and of a comparison: its frame, its style and its script, which is joined from the libraries and the files in
// `browser`. Those are checked as modules; the page itself can load none, because it is opened from a folder.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { htmlJson, markupText } from '../../errors/outside-text.ts';
import type { Blob } from './report-index.ts';

const NOTICE =
  '/*! preact: MIT, (c) Jason Miller; htm: Apache-2.0, (c) Google; uPlot: MIT, (c) Leon Sorokin */';
/** Scripts that define a global, in this order. */
const LIBRARIES = [
  ['preact', 'preact.umd.js'],
  ['preact/hooks', 'hooks.umd.js'],
  ['htm', 'htm.umd.js'],
  ['uplot', 'uPlot.iife.min.js'],
] as const;

type PageSource = {
  readonly style: string;
  readonly script: string;
  /** The content security policy. */
  readonly policy: string;
};

let known: PageSource | undefined;

export const pageSource = (): PageSource => (known ??= readPage());

function readPage(): PageSource {
  const style = `\n${library('uplot', 'uPlot.min.css')}\n${read('style.css')}`;
  const libraries = LIBRARIES.map(([name, file]) => library(name, file).replace(/^\/\/# source.*$/m, ''));
  const script = `\n'use strict';\n${NOTICE}\n${libraries.join('\n')}\n(() => {\nconst modules = {};\n${modulesFrom('main.js').join('\n')}\n})();\n`;
  return {
    style,
    script,
    policy: [
      "default-src 'none'",
      "img-src 'self' file: data:",
      "media-src 'self' file:",
      `style-src '${digestOf(style)}'`,
      // What this script loads may run; nothing that stands in the page's markup may.
      `script-src '${digestOf(script)}' 'strict-dynamic'`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; '),
  };
}

/** A module and those that it uses, each after those that it uses itself. */
function modulesFrom(name: string, seen = new Set<string>()): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const module = read(name);
  const used = [...module.matchAll(IMPORT)].flatMap(([, , from = '']) => modulesFrom(from, seen));
  return [...used, scriptOf(name, module)];
}

/** A module as a function with a scope of its own, which takes what it imports from `modules`. */
function scriptOf(name: string, module: string): string {
  const exported = [...module.matchAll(EXPORT)].map(([, several, one]) => several ?? one);
  const body = module
    .replaceAll(IMPORT, (_, names: string, from: string) => `const {${names}} = modules['${from}'];\n`)
    .replaceAll(/^export /gm, '');
  return `modules['${name}'] = (() => {\n${body}return { ${exported.join(', ')} };\n})();`;
}

const IMPORT = /^import \{([^}]*)\} from '\.\/([^']+)';\n/gm;
const EXPORT = /^export (?:async )?(?:const|function|class) (?:\{([^}]*)\}|(\w+))/gm;

const read = (name: string): string => readFileSync(new URL(`browser/${name}`, import.meta.url), 'utf8');

const { resolve } = createRequire(import.meta.url);
const library = (name: string, file: string) => readFileSync(join(dirname(resolve(name)), file), 'utf8');

const digestOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** Where the script draws the page. */
export const PAGE = '<div id="page"></div>';

// The frame of a page that opens offline: its style, script and policy, and what it knows as data.

type HtmlPage = {
  readonly name: 'report' | 'comparison' | 'pipeline';
  readonly title: string;
  readonly facts: object;
  readonly blobs: Iterable<Blob> | AsyncIterable<Blob>;
};

/** The page in pieces. Facts and blobs are data in it, never markup. */
export async function* htmlPage({ name, title, facts, blobs }: HtmlPage): AsyncGenerator<string> {
  const { style, script, policy } = pageSource();
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="runsheet ${name}">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="icon" href="${ICON}">
<title>${markupText(title)}</title>
<style>${style}</style>
</head>
${PAGE}
<noscript>This page is drawn by a script of its own.</noscript>
<script type="application/json" id="data">${htmlJson(facts)}</script>
`;
  for await (const { name: column, bytesEach, data } of blobs)
    yield `<script type="text/plain" class="column" data-name="${column}" data-bytes="${bytesEach}">${data}</script>\n`;
  yield `<script>${script}</script>\n</html>\n`;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%233b8f5a' d='M1 1h6v6H1zM9 1h6v6H9zM1 9h6v6H1z'/%3E%3Cpath fill='%23b27a12' d='M9 9h6v6H9z'/%3E%3C/svg%3E";
