// The enlarged view of a row: its files, all of its cells and its attempts.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownRow } from '../report-row.ts';
import { LargeFile, NoPicture, Thumb } from './files.tsx';
import { Button, Copy, NewTab, Section, Terms, toneOf } from './view-parts.tsx';
import { choiceOf, type PickChoice, type RowPick } from './viewer-choices.ts';
import type { Source } from './row-card.tsx';
import { retryOf } from './user-commands.ts';
import { bytesText, span } from '../../../options/text/printed-numbers.ts';
import { dateOf, ifPaid, joined } from './text.ts';
import { Viewer } from './viewer.tsx';

/** `attempt`: the attempt to which the side scrolls, from 1; 0: none. */
export type Opened = { order: ArrayLike<number>; place: number; attempt: number };
type RowViewProps = Opened & {
  source: Source;
  go: (place: number) => void;
  onClose: () => void;
  onPick: () => void;
};

export function RowView({ source, order, place, attempt, go, onClose, onPick }: RowViewProps) {
  const { table, picks } = source;
  const row = order[place] ?? 0;
  const key = table.key[row] || `row ${row + 1}`;
  const outcome = table.outcomeName(row);
  const detail = useDetail(source, row);
  const [chosen, setChosen] = useState({ row, file: 0 });
  // The mode stays while the viewer goes from row to row.
  const [isActual, setActual] = useState(false);
  const file = chosen.row === row ? chosen.file : 0;
  const files = detail?.files.map(({ path }) => path) ?? [table.file[row] ?? ''].filter(Boolean);
  const path = files[file];
  const choose = (choice: PickChoice) => {
    picks.toggle(key, choice);
    onPick();
  };
  const onKey = (pressed: string) => {
    const choice = choiceOf(pressed);
    if (choice !== undefined) choose(choice);
    else if (pressed === 'z') setActual(!isActual);
    else return false;
    return true;
  };
  const stage =
    path === undefined ? (
      <NoPicture outcome={outcome} text={table.reason[row] || (detail?.texts?.[0] ?? '')} />
    ) : (
      <LargeFile path={path} label={`${key}: ${table.caption(row)}`} />
    );
  const facts = joined([`row ${row + 1}`, outcome === 'succeeded' ? outcome : '', table.factsText(row)]);
  const side = (
    <>
      <h2>{table.title(row)}</h2>
      <p class="facts">{facts}</p>
      <PickBar pick={picks.of(key)} choose={choose} />
      {detail && <Detail source={source} row={row} detail={detail} path={path} attempt={attempt} />}
    </>
  );
  return (
    <Viewer
      place={place}
      length={order.length}
      name={key}
      go={go}
      onClose={onClose}
      onKey={onKey}
      stage={stage}
      stageClass={isActual ? 'actual' : ''}
      onStage={(event) => zoom(event, isActual, setActual)}
      side={side}
      paths={(near) => [table.file[order[near] ?? -1] ?? '']}
      files={files.map((name) => (
        <Thumb key={name} path={name} />
      ))}
      file={file}
      setFile={(nth) => setChosen({ row, file: nth })}
    />
  );
}

/** The full cells of a row, once they are there. */
function useDetail({ table, read }: Source, row: number): ShownRow | undefined {
  const [loaded, setLoaded] = useState<{ row: number; detail?: ShownRow | undefined }>({ row: -1 });
  const latest = useRef(row);
  latest.current = row;
  useEffect(() => {
    void read(row).then((detail) => {
      if (row === latest.current) setLoaded({ row, detail });
    });
  }, [row, table.of.outcome[row]]);
  return loaded.row === row ? loaded.detail : undefined;
}

/** A click on the picture shows its own size, at the place of the click. */
function zoom(event: MouseEvent, isActual: boolean, setActual: (isActual: boolean) => void): void {
  const { target, clientX, clientY } = event;
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

const WORDS = [
  ['picked', 'Pick', 'P'],
  ['rejected', 'Reject', 'X'],
] as const;

function PickBar({
  pick: { mark, stars = 0 },
  choose,
}: {
  pick: RowPick;
  choose: (choice: PickChoice) => void;
}) {
  return (
    <div class="wrap" role="group" aria-label="Your choice">
      {WORDS.map(([choice, text, key]) => (
        <Button
          key={choice}
          title={`key ${key}`}
          aria-pressed={mark === choice}
          onClick={() => choose(choice)}
        >
          {text}
        </Button>
      ))}
      {[1, 2, 3, 4, 5].map((nth) => (
        <Button
          key={nth}
          class="star"
          title={`key ${nth}`}
          aria-label={`${nth} of 5 stars`}
          aria-pressed={nth <= stars}
          onClick={() => choose(nth)}
        >
          {nth <= stars ? '★' : '☆'}
        </Button>
      ))}
    </div>
  );
}

type DetailProps = {
  source: Source;
  row: number;
  detail: ShownRow;
  path: string | undefined;
  attempt: number;
};

function Detail({ source: { table }, row, detail, path, attempt }: DetailProps) {
  const { inputs, data, more = 0, reason, attempts, files, texts = [], reused } = detail;
  const outcome = table.outcomeName(row);
  return (
    <>
      {reason !== undefined && (
        <p class="reason box" style={toneOf('failed')}>
          {reason}
        </p>
      )}
      {reused !== undefined && <p class="note">Reused from {reused}; not bought again.</p>}
      <Cells title="Inputs" cells={Object.entries(inputs)} />
      <Cells title="Other columns" cells={Object.entries(data)} />
      {more > 0 && <p class="note">{more} more cells are in results.jsonl.</p>}
      <Section title="Text" isEmpty={texts.length === 0}>
        {texts.map((text, nth) => (
          <pre key={nth} tabindex={0}>
            {text}
          </pre>
        ))}
      </Section>
      <div class="actions wrap">
        {path !== undefined && (
          <>
            <Copy label="Copy path" text={path} />
            <NewTab href={path} class="button" text="Open file" />
          </>
        )}
        {outcome !== 'open' && (
          <Copy label="Copy retry command" text={retryOf(table.facts, [row], outcome)} />
        )}
        <Copy label="Copy link" text={location.href} />
      </div>
      <Section title={attempts.length === 1 ? 'Attempt' : 'Attempts'} isEmpty={attempts.length === 0}>
        <ol class="lined">
          {attempts.map((record) => (
            <AttemptItem key={record.attempt} record={record} isMeant={record.attempt === attempt} />
          ))}
        </ol>
      </Section>
      <Section title={files.length === 1 ? 'File' : 'Files'} isEmpty={files.length === 0}>
        <ul class="note">
          {files.map(({ path: href, bytes, name }) => (
            <li key={href}>
              <NewTab href={href} text={href} /> {bytesText(bytes)} · {name}
            </li>
          ))}
        </ul>
      </Section>
    </>
  );
}

type CellsProps = { title: string; cells: readonly (readonly [name: string, value: string])[] };

function Cells({ title, cells }: CellsProps) {
  const shown = cells.filter(([, value]) => value !== '');
  const entries = shown.map(([name, value]) => {
    const copy = <Copy label="Copy" spoken={`Copy ${name}`} text={value} class="link" />;
    const term = (
      <>
        {name}
        {copy}
      </>
    );
    return [term, value] as const;
  });
  return (
    <Section title={title} isEmpty={shown.length === 0}>
      <Terms class="cells lined" entries={entries} />
    </Section>
  );
}

type AttemptItemProps = { record: ShownRow['attempts'][number]; isMeant: boolean };

function AttemptItem({ record, isMeant }: AttemptItemProps) {
  const { attempt, outcome, gpu_used, cost_usd = 0, reason, run_id, ended_at, ...took } = record;
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isMeant) item.current?.scrollIntoView({ block: 'center' });
  }, [isMeant]);
  const timeOf = (name: string, seconds = 0) => (seconds > 0 ? `${name} ${span(seconds)}` : '');
  const facts = joined([
    gpu_used,
    timeOf('queued', took.queue_seconds),
    timeOf('cold start', took.cold_start_seconds),
    timeOf('ran', took.run_seconds),
    took.lost_executions === undefined ? '' : `executed again, ${span(took.lost_seconds ?? 0)} lost`,
    ifPaid(cost_usd),
  ]);
  return (
    <li ref={item} class={isMeant ? 'meant' : ''}>
      <p>
        <b class="tone" style={toneOf(outcome)}>
          {attempt}. {outcome}
        </b>{' '}
        {facts}
      </p>
      {reason && outcome !== 'succeeded' && <p class="note">{reason}</p>}
      <p class="note">{joined([run_id, ended_at && dateOf(ended_at)])}</p>
    </li>
  );
}
