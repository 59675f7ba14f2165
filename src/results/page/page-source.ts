// The frame of a page that opens offline from its folder: style, script and content security policy, and the facts as data.

import { htmlJson, markupText } from '../../errors/outside-text.ts';
import { pageFiles, type PageFiles } from '../../host/page-files.ts';
import type { Blob } from './report-index.ts';

export type PageSource = Pick<PageFiles, 'style' | 'script'> & {
  /** The content security policy. */
  readonly policy: string;
};

export async function pageSource(): Promise<PageSource> {
  const { style, script, sources } = await pageFiles('report');
  const policy = [
    "default-src 'none'",
    "img-src 'self' file: data:",
    "media-src 'self' file:",
    `style-src ${sources.style}`,
    // Scripts that this script loads may run; scripts in the page's markup may not.
    `script-src ${sources.script} 'strict-dynamic'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return { style, script, policy };
}

/** Where the script draws the page. */
export const PAGE = '<div id="page"></div>';

type HtmlPage = {
  readonly name: 'report' | 'comparison' | 'pipeline';
  readonly title: string;
  readonly facts: object;
  readonly blobs: Iterable<Blob> | AsyncIterable<Blob>;
};

/** The page in pieces. Facts and blobs are data in it, never markup. */
export async function* htmlPage({ name, title, facts, blobs }: HtmlPage): AsyncGenerator<string> {
  const { style, script, policy } = await pageSource();
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
