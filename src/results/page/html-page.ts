// The frame of a page that opens offline: its style, script and policy, and what it knows as data.

import { htmlJson, htmlText } from '../../errors/outside-text.ts';
import type { Blob } from './report-index.ts';
import { pageSource, type PageName } from './page-source.ts';

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
<title>${htmlText(title)}</title>
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
