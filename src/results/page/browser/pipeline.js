// The page of a pipeline: a line for each stage, with its own page, and what helps where one waits.

import { Copy, html, Lines, NewTab, render, Section } from './parts.js';
import { asCalled, count, ifPaid, joined, money, placed, plural } from './text.js';

/** @import { PipelineFacts } from '../pipeline-page.ts' */
/** @typedef {PipelineFacts['stages'][number]} Stage */

/** @type {(facts: PipelineFacts, page: HTMLElement) => Promise<void>} */
export async function startPipeline(facts, page) {
  render(html`<${Pipeline} ...${facts} />`, page);
}

/** @param {PipelineFacts} props */
function Pipeline({ pipeline, program, stages }) {
  const ended = stages.filter(({ state }) => state === 'finished').length;
  const cost = stages.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
  const waiting = stages.filter(({ help }) => help !== '');
  return html`<header id="head">
      <p class="wrap"><b id="title">${pipeline}</b></p>
      <h1 id="sentence">${count(ended)} of ${plural(stages.length, 'stage')} ended</h1>
      <p class="note">${cost > 0 && `${money(cost)} estimated so far; `}this page is written anew when a stage changes</p>
    </header>
    <main class="columns">
      <div class="scroll"><${Lines} heads=${['', 'State', 'Rows', 'Succeeded', 'Others', 'Cost', 'Page']} lines=${stages.map(lineOf)} /></div>
      <${Section} title="What helps" head="h2" isEmpty=${waiting.length === 0}>
        <ul class="lined">${waiting.map((stage) => html`<${Help} ...${{ stage, program }} />`)}</ul>
      <//>
    </main>`;
}

/** @param {{ stage: Stage, program: string }} props */
function Help({ stage: { name, reason, help }, program }) {
  const command = placed(asCalled(help, program));
  return html`<li class="wrap"><span><b>${name}</b> ${reason}<br /><code>${command}</code></span>
    <${Copy} label="Copy" of=${`Copy the command for ${name}`} text=${command} /></li>`;
}

/** @type {(stage: Stage) => readonly [head: string, ...cells: { text: any }[]]} */
function lineOf({ name, deployment, state, rows, outcomes, costUsd, batch, reason, help }) {
  const { succeeded = 0, ...others } = outcomes ?? {};
  const failed = Object.values(others).reduce((sum, one) => sum + one, 0);
  return [
    joined([name, deployment, help === '' ? reason : '']),
    { text: state },
    { text: rows === undefined ? '' : count(rows) },
    { text: outcomes === undefined ? '' : count(succeeded) },
    { text: outcomes === undefined ? '' : count(failed) },
    { text: ifPaid(costUsd ?? 0) },
    { text: batch && html`<${NewTab} href=${`../${encodeURIComponent(batch)}/report.html`} text="open" />` },
  ];
}
