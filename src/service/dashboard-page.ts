// The dashboard's page: one file without external resources, and a content security policy that forbids them. It contains no
// data: its script requests them every second.

import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { LIVE_SCRIPT } from './dashboard-script.ts';

const DASHBOARD_STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf8, #15171a); --card: light-dark(#ffffff, #1d2024); --ink: light-dark(#1f2328, #e3e5e8);
  --soft: light-dark(#5b636d, #9aa3ad); --line: light-dark(#e3e0da, #31363d); --wash: light-dark(#f1efea, #262a30);
  --blue: light-dark(#1f5fa8, #7db4f0); --green: light-dark(#1d7443, #63c48c); --red: light-dark(#b02f26, #f08c83);
  --amber: light-dark(#8a5a06, #e0b35a);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
a { color: var(--blue); text-underline-offset: 2px; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
code, pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
.soft { color: var(--soft); }
body { max-width: 84rem; margin: 0 auto; padding: 28px clamp(16px, 4vw, 48px) 64px; }
header { display: flex; flex-wrap: wrap; gap: 12px 48px; align-items: end; border-bottom: 1px solid var(--line); padding-bottom: 20px; }
h1 { font-size: 24px; margin: 0 0 2px; } header p { margin: 0; }
#state { margin-left: auto; font-size: 13px; color: var(--soft); } #state.lost { color: var(--red); }
dl { display: flex; gap: 32px; margin: 0; }
dl div { display: flex; flex-direction: column; } dt { font-size: 12px; color: var(--soft); }
dd { margin: 0; font-size: 24px; line-height: 1.2; font-variant-numeric: tabular-nums; }
h2 { font-size: 16px; margin: 32px 0 12px; } h2 .soft { font-weight: 400; font-size: 13px; margin-left: 6px; }
#servers:not(:empty) { margin-bottom: 12px; }
#servers, #pools { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 12px; }
.pool { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; min-width: 0; }
.pool h3 { margin: 0 0 10px; font-size: 15px; display: flex; gap: 10px; justify-content: space-between; overflow-wrap: anywhere; }
.pool h3 .soft { font-weight: 400; font-size: 13px; }
.pool p { margin: 10px 0 0; font-size: 13px; color: var(--soft); font-variant-numeric: tabular-nums; }
.cells { display: flex; flex-wrap: wrap; gap: 5px; }
.cells i { width: 16px; height: 16px; border-radius: 4px; border: 2px solid var(--line); }
.cells .busy { background: var(--blue); border-color: var(--blue); }
.cells .idle { border-color: var(--blue); }
.cells .free { border-style: dashed; }
.runs { display: grid; grid-template-columns: repeat(auto-fill, minmax(164px, 1fr)); gap: 12px; }
#next { font-size: 13px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; font-size: 13px; }
article p { margin: 0; padding: 0 12px; overflow-wrap: anywhere; }
article .line { display: flex; justify-content: space-between; gap: 8px; padding-top: 8px; font-variant-numeric: tabular-nums; }
.words { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; min-height: 3em; }
article p:last-child { padding-bottom: 10px; font-size: 12px; font-variant-numeric: tabular-nums; }
.frame { aspect-ratio: 1; background: var(--wash); display: grid; place-content: center; justify-items: center; gap: 10px; padding: 12px; position: relative; }
.frame img { position: absolute; inset: 0; width: 100%; height: 100%; object-fit: cover; }
.sign { font-size: 34px; line-height: 1; color: var(--soft); }
.doing { font-size: 12px; color: var(--soft); min-height: 1.5em; text-align: center; }
progress { appearance: none; width: 112px; height: 6px; border: 0; border-radius: 3px; overflow: hidden; background: var(--line); }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--blue); } progress::-moz-progress-bar { background: var(--blue); }
.good b { color: var(--green); } .bad b, .bad .sign { color: var(--red); } .odd b, .odd .sign { color: var(--amber); } .work b, .work .sign { color: var(--blue); }
@media (prefers-reduced-motion: no-preference) { progress::-webkit-progress-value { transition: width .4s linear; } }
`;

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
        <div id="servers"></div>
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
