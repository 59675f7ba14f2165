// The dashboard's HTML. It contains no data: its script requests them every second.

import { html } from './html.ts';
import { LIVE_SCRIPT } from './dashboard-script.ts';
import { LIVE_STYLE } from './dashboard-style.ts';
import { PAGE_STYLE } from './page-style.ts';
import { pageOf, type Page } from './page.ts';

export function dashboardPage(): Page {
  const body = html`<header>
      <div>
        <h1>Local run service</h1>
        <p class="soft"><span id="behaviour"></span> <a href="/api/docs">Reference</a></p>
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
    <noscript><p>This page needs JavaScript to show the runs.</p></noscript>`;
  return pageOf({ title: 'Local run service', style: PAGE_STYLE + LIVE_STYLE, body, script: LIVE_SCRIPT });
}
