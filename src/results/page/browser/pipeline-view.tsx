// The page of a pipeline: a line for each stage with a link to its own page, and the command that helps a stage that waits.

import { render } from 'preact';
import type { PipelineFacts } from '../pipeline-page.ts';
import { Copy, Lines, NewTab, Section, type Line } from './view-parts.tsx';
import { asCalled, placed } from './user-commands.ts';
import { count, money, plural } from '../../../options/text/printed-numbers.ts';
import { ifPaid, joined } from './text.ts';

type Stage = PipelineFacts['stages'][number];

const HEADS = ['', 'State', 'Rows', 'Succeeded', 'Others', 'Cost', 'Page'];

export const startPipeline = (facts: PipelineFacts, page: HTMLElement): void =>
  render(<Pipeline {...facts} />, page);

function Pipeline({ pipeline, program, stages }: PipelineFacts) {
  const ended = stages.filter(({ state }) => state === 'finished').length;
  const cost = stages.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0);
  const waiting = stages.filter(({ help }) => help !== '');
  return (
    <>
      <header id="head">
        <p class="wrap">
          <b id="title">{pipeline}</b>
        </p>
        <h1 id="sentence">
          {count(ended)} of {plural(stages.length, 'stage')} ended
        </h1>
        <p class="note">
          {cost > 0 && `${money(cost)} estimated so far; `}this file is rewritten when a stage changes; reload
          it to see that
        </p>
      </header>
      <main class="columns">
        <div class="scroll">
          <Lines heads={HEADS} lines={stages.map(lineOf)} />
        </div>
        <Section title="Needs attention" head="h2" isEmpty={waiting.length === 0}>
          <ul class="lined">
            {waiting.map((stage) => (
              <Help key={stage.name} stage={stage} program={program} />
            ))}
          </ul>
        </Section>
      </main>
    </>
  );
}

function Help({ stage: { name, reason, help }, program }: { stage: Stage; program: string }) {
  const command = placed(asCalled(help, program));
  return (
    <li class="wrap">
      <span>
        <b>{name}</b> {reason}
        <br />
        <code>{command}</code>
      </span>
      <Copy label="Copy" spoken={`Copy the command for ${name}`} text={command} />
    </li>
  );
}

function lineOf({ name, deployment, state, rows, outcomes, costUsd, batch, reason, help }: Stage): Line {
  const { succeeded = 0, ...unsuccessful } = outcomes ?? {};
  const failed = Object.values(unsuccessful).reduce((sum, many) => sum + many, 0);
  return [
    joined([name, deployment, help === '' ? reason : '']),
    { text: state },
    { text: rows === undefined ? '' : count(rows) },
    { text: outcomes === undefined ? '' : count(succeeded) },
    { text: outcomes === undefined ? '' : count(failed) },
    { text: ifPaid(costUsd ?? 0) },
    { text: batch && <NewTab href={`../${encodeURIComponent(batch)}/report.html`} text="open" /> },
  ];
}
