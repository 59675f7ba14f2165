// The dashboard's page: one file without external resources, and a content security policy that forbids them. It contains no
// data: its script requests them every second.

import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { LIVE_SCRIPT } from './dashboard-script.ts';
import { DASHBOARD_STYLE } from './dashboard-style.ts';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Local run service</title>
    <link rel="icon" href="data:," />
    <style>${DASHBOARD_STYLE}</style>
  </head>
  <body>
    <header>
      <div>
        <h1>Local run service</h1>
        <p class="soft"><span id="behaviour"></span> <a href="/api/openapi.json">OpenAPI</a></p>
      </div>
      <dl id="figures"></dl>
      <p id="state" role="status"></p>
    </header>
    <main>
      <section aria-labelledby="machines-title">
        <h2 id="machines-title">Machines</h2>
        <div id="pools"></div>
      </section>
      <section aria-labelledby="work-title">
        <h2 id="work-title">Running <span class="soft" id="work-count"></span></h2>
        <div class="runs" id="atWork"></div>
        <p class="soft" id="next"></p>
      </section>
      <section aria-labelledby="ended-title">
        <h2 id="ended-title">Last ended</h2>
        <div class="runs" id="ended"></div>
      </section>
    </main>
    <noscript><p>This page needs JavaScript to show the runs.</p></noscript>
    <script type="module">${LIVE_SCRIPT}</script>
  </body>
</html>`;

const sourceOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`;

const POLICY = [
  "default-src 'none'",
  `style-src ${sourceOf(DASHBOARD_STYLE)}`,
  "img-src 'self' data:",
  `script-src ${sourceOf(LIVE_SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const sendDashboard = (reply: FastifyReply): FastifyReply =>
  reply
    .headers({
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    })
    .type('text/html; charset=utf-8')
    .send(PAGE);
