// The dashboard's page: one file without external resources, and a content security policy that forbids them. It contains no
// data: its script requests them every second.

import type { FastifyReply } from 'fastify';
import { pageFiles, type PageFiles } from '../../host/page-files.ts';

const markupOf = ({ style, script }: PageFiles): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Local run service</title>
    <link rel="icon" href="data:," />
    <style>${style}</style>
  </head>
  <body>
    <div id="page"></div>
    <noscript><p>This page needs JavaScript to show the runs.</p></noscript>
    <script>${script}</script>
  </body>
</html>`;

const policyOf = ({ sources }: PageFiles): string =>
  [
    "default-src 'none'",
    `style-src ${sources.style}`,
    "img-src 'self' data:",
    `script-src ${sources.script}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export async function sendDashboard(reply: FastifyReply): Promise<FastifyReply> {
  const files = await pageFiles('dashboard');
  return reply
    .headers({
      'content-security-policy': policyOf(files),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .type('text/html; charset=utf-8')
    .send(markupOf(files));
}
