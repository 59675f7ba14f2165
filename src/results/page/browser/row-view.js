// The enlarged view of a row: its files, all of its cells and its attempts.

import { Button, Copy, html, NewTab, Section, Terms, toneOf, useEffect, useRef, useState } from './parts.js';
import { LargeFile, NoPicture, Thumb } from './files.js';
import { choiceOf } from './picks.js';
import { dateOf, ifPaid, joined, retryOf, size, span } from './text.js';
import { Viewer } from './viewer.js';

/** @import { Source } from './row-card.js' */
/** @import { Choice, Pick } from './picks.js' */
/** @import { ShownRow } from '../report-row.ts' */

/** `attempt`: the one to which the side goes, from 1. @typedef {{ source: Source, order: ArrayLike<number>, place: number, attempt: number, go: (place: number) => void, onClose: () => void, onPick: () => void }} RowViewProps */

/** @param {RowViewProps} props */
export function RowView({ source, order, place, attempt, go, onClose, onPick }) {
  const { table, picks } = source;
  const row = order[place] ?? 0;
  const key = table.key[row] || `row ${row + 1}`;
  const outcome = table.outcomeName(row);
  const detail = useDetail(source, row);
  const [chosen, setChosen] = useState({ row, file: 0 });
  // It stays while one goes from row to row.
  const [isActual, setActual] = useState(false);
  const file = chosen.row === row ? chosen.file : 0;
  const files = detail?.files.map(({ path }) => path) ?? [table.file[row] ?? ''].filter(Boolean);
  const path = files[file];
  const choose = (choice) => {
    picks.toggle(key, choice);
    onPick();
  };
  const onKey = (pressed) => {
    const choice = choiceOf(pressed);
    if (choice !== undefined) choose(choice);
    else if (pressed === 'z') setActual(!isActual);
    else return false;
    return true;
  };
  const stage =
    path === undefined
      ? html`<${NoPicture} outcome=${outcome} text=${table.reason[row] || (detail?.texts?.[0] ?? '')} />`
      : html`<${LargeFile} path=${path} label="${key}: ${table.caption(row)}" />`;
  const side = html`<h2>${table.title(row)}</h2>
    <p class="facts">${joined([`row ${row + 1}`, outcome === 'succeeded' ? outcome : '', table.factsText(row)])}</p>
    <${PickBar} pick=${picks.of(key)} choose=${choose} />
    ${detail && html`<${Detail} ...${{ source, row, detail, path, attempt }} />`}`;
  return html`<${Viewer} ...${{ place, go, onClose, onKey, stage, side, file }} length=${order.length} name=${key}
    paths=${(one) => [table.file[order[one] ?? -1] ?? '']} stageName=${isActual ? 'actual' : ''}
    onStage=${(event) => zoom(event, isActual, setActual)} files=${files.map((one) => html`<${Thumb} path=${one} />`)}
    setFile=${(nth) => setChosen({ row, file: nth })} />`;
}

/** The full cells of a row, once they are there. @type {(source: Source, row: number) => ShownRow | undefined} */
function useDetail({ table, read }, row) {
  const [known, setKnown] = useState(
    /** @type {{ row: number, detail?: ShownRow | undefined }} */ ({ row: -1 }),
  );
  const latest = useRef();
  latest.current = row;
  useEffect(() => {
    void read(row).then((detail) => row === latest.current && setKnown({ row, detail }));
  }, [row, table.of.outcome[row]]);
  return known.row === row ? known.detail : undefined;
}

/** A click on the picture shows its own size, at the place of the click. @type {(event: MouseEvent, isActual: boolean, setActual: (isActual: boolean) => void) => void} */
function zoom({ target, clientX, clientY }, isActual, setActual) {
  if (!(target instanceof HTMLElement && target.matches('img, canvas'))) return;
  const { left, top, width, height } = target.getBoundingClientRect();
  const [x, y] = [(clientX - left) / width, (clientY - top) / height];
  setActual(!isActual);
  requestAnimationFrame(() => {
    const stage = target.parentElement;
    stage?.scrollTo(
      x * target.offsetWidth - stage.clientWidth / 2,
      y * target.offsetHeight - stage.clientHeight / 2,
    );
  });
}

/** @param {{ pick: Pick, choose: (choice: Choice) => void }} props */
function PickBar({ pick: { mark, stars = 0 }, choose }) {
  const word = (choice, text, key) =>
    html`<${Button} title="key ${key}" aria-pressed=${mark === choice} onClick=${() => choose(choice)}>${text}<//>`;
  const star = (nth) =>
    html`<${Button} name="star" title="key ${nth}" of="${nth} of 5 stars" aria-pressed=${nth <= stars}
      onClick=${() => choose(nth)}>${nth <= stars ? '★' : '☆'}<//>`;
  return html`<div class="wrap" role="group" aria-label="Your choice">
    ${word('picked', 'Pick', 'P')} ${word('rejected', 'Reject', 'X')} ${[1, 2, 3, 4, 5].map(star)}
  </div>`;
}

/** @param {{ source: Source, row: number, detail: ShownRow, path: string | undefined, attempt: number }} props */
function Detail({ source: { table }, row, detail, path, attempt }) {
  const { inputs, data, more = 0, reason, attempts, files, texts = [], reused } = detail;
  const outcome = table.outcomeName(row);
  const link = ({ path: href, bytes, name }) =>
    html`<li><${NewTab} href=${href} text=${href} /> ${size(bytes)} · ${name}</li>`;
  return html`${reason !== undefined && html`<p class="reason box" style=${toneOf('failed')}>${reason}</p>`}
    ${reused !== undefined && html`<p class="note">Reused from ${reused}; not bought again.</p>`}
    <${Cells} title="Inputs" cells=${Object.entries(inputs)} />
    <${Cells} title="Other columns" cells=${Object.entries(data)} />
    ${more > 0 && html`<p class="note">${more} more cells are in results.jsonl.</p>`}
    <${Section} title="Text" isEmpty=${texts.length === 0}>${texts.map((text) => html`<pre tabindex="0">${text}</pre>`)}<//>
    <div class="actions wrap">
      ${path !== undefined && html`<${Copy} label="Copy path" text=${path} /><${NewTab} href=${path} name="button" text="Open file" />`}
      ${outcome !== 'open' && html`<${Copy} label="Copy retry command" text=${retryOf(table.facts, [row], outcome)} />`}<${Copy} label="Copy link" text=${location.href} />
    </div>
    <${Section} title=${attempts.length === 1 ? 'Attempt' : 'Attempts'} isEmpty=${attempts.length === 0}>
      <ol class="lined">
        ${attempts.map((one) => html`<${Attempt} key=${one.attempt} given=${one} isMeant=${one.attempt === attempt} />`)}
      </ol>
    <//>
    <${Section} title=${files.length === 1 ? 'File' : 'Files'} isEmpty=${files.length === 0}>
      <ul class="note">${files.map(link)}</ul>
    <//>`;
}

/** @param {{ title: string, cells: readonly (readonly [name: string, value: string])[] }} props */
function Cells({ title, cells }) {
  const shown = cells.filter(([, value]) => value !== '');
  const entries = shown.map(([name, value]) => [
    html`${name}<${Copy} label="Copy" of="Copy ${name}" text=${value} name="link" />`,
    value,
  ]);
  return html`<${Section} title=${title} isEmpty=${shown.length === 0}><${Terms} name="cells lined" entries=${entries} /><//>`;
}

/** @param {{ given: ShownRow['attempts'][number], isMeant: boolean }} props */
function Attempt({ given, isMeant }) {
  const { attempt, outcome, gpu_used, cost_usd = 0, reason, run_id, ended_at, ...took } = given;
  const item = useRef();
  useEffect(() => {
    if (isMeant) item.current?.scrollIntoView({ block: 'center' });
  }, [isMeant]);
  const known = (name, seconds = 0) => (seconds > 0 ? `${name} ${span(seconds)}` : '');
  const facts = joined([
    gpu_used,
    known('queued', took.queue_seconds),
    known('cold start', took.cold_start_seconds),
    known('ran', took.run_seconds),
    took.lost_executions === undefined ? '' : `executed again, ${span(took.lost_seconds ?? 0)} lost`,
    ifPaid(cost_usd),
  ]);
  return html`<li ref=${item} class=${isMeant ? 'meant' : ''}>
    <p><b class="tone" style=${toneOf(outcome)}>${attempt}. ${outcome}</b> ${facts}</p>
    ${reason && outcome !== 'succeeded' && html`<p class="note">${reason}</p>`}
    <p class="note">${joined([run_id, ended_at && dateOf(ended_at)])}</p>
  </li>`;
}
