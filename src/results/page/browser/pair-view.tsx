// The enlarged view of a pair. While the space bar is held, B is shown in the place of A.

import { useState } from 'preact/hooks';
import type { Side } from '../../compare/compared-pair.ts';
import type { ComparisonFacts, ShownHalf, ShownPair } from '../comparison-page.ts';
import { kindOf, LargeFile, Picture } from './files.tsx';
import { addressOf, Changes, NoFile, PairBadge, reportOf, SideMark, SIDES } from './pairs.tsx';
import { Button, Lines, NewTab, Section, Terms, toneOf, useWindow, type Line } from './view-parts.tsx';
import { span } from '../../../options/text/printed-numbers.ts';
import { ifPaid } from './text.ts';
import { Viewer } from './viewer.tsx';

const MODES = [
  { mode: 'beside', label: 'Beside', hint: '' },
  { mode: 'slider', label: 'Slider', hint: 'drag over the picture: A left, B right' },
  { mode: 'blink', label: 'Blink', hint: 'hold the space bar, or press the picture, to see B' },
  { mode: 'difference', label: 'Difference', hint: 'black: no difference · press: brighter' },
] as const;
type Mode = (typeof MODES)[number]['mode'];

type PairViewProps = {
  facts: ComparisonFacts;
  order: readonly ShownPair[];
  place: number;
  go: (place: number) => void;
  onClose: () => void;
};

export function PairView({ facts, order, place, go, onClose }: PairViewProps) {
  const pair = order[place] as ShownPair;
  const { key } = pair;
  const [wanted, setMode] = useState<Mode>('beside');
  const [isHeld, hold] = useState(false);
  const [isBright, setBright] = useState(false);
  const [chosen, setChosen] = useState({ key, file: 0 });
  const file = chosen.key === key ? chosen.file : 0;
  const [a = '', b = ''] = SIDES.map((side) => addressOf(facts, side, pair[side], file));
  const arePictures = kindOf(a) === 'picture' && kindOf(b) === 'picture';
  const mode = !arePictures ? 'beside' : isHeld ? 'blink' : wanted;
  useWindow(['blur', 'pointerup'], () => hold(false));
  const onKey = (pressed: string) => {
    const next = MODES[Number(pressed) - 1]?.mode;
    if (pressed === ' ') hold(arePictures);
    else if (next !== undefined && arePictures) setMode(next);
    else return false;
    return true;
  };
  const onPress = () => {
    if (mode === 'blink') hold(true);
    else if (mode === 'difference') setBright(!isBright);
  };
  const pathsOf = (near: ShownPair) => SIDES.map((side) => addressOf(facts, side, near[side]) ?? '');
  const { files: most } = pair.a.files.length > pair.b.files.length ? pair.a : pair.b;
  const stage =
    mode === 'beside' ? (
      <>
        <LargeHalf key="a" facts={facts} pair={pair} side="a" path={a} />
        <LargeHalf key="b" facts={facts} pair={pair} side="b" path={b} />
      </>
    ) : (
      <Overlay key={a} mode={mode} a={a} b={b} isHeld={isHeld} isBright={isBright} label={key} />
    );
  return (
    <Viewer
      place={place}
      length={order.length}
      name={key}
      go={go}
      onClose={onClose}
      onKey={onKey}
      onKeyUp={(pressed) => pressed === ' ' && hold(false)}
      onPress={onPress}
      modes={<Modes mode={mode} arePictures={arePictures} setMode={setMode} />}
      stage={stage}
      stageClass=""
      side={<PairSide facts={facts} pair={pair} />}
      paths={(near) => order.slice(near, near + 1).flatMap(pathsOf)}
      files={most.map((_, nth) => `${nth + 1}`)}
      file={file}
      setFile={(nth) => setChosen({ key, file: nth })}
    />
  );
}

type ModesProps = { mode: Mode; arePictures: boolean; setMode: (mode: Mode) => void };

const Modes = ({ mode, arePictures, setMode }: ModesProps) => (
  <div id="modes" class="wrap" role="group" aria-label="How the pictures are shown">
    {MODES.map(({ mode: name, label }, nth) => (
      <Button
        key={name}
        class="button chip"
        title={`key ${nth + 1}`}
        data-mode={name}
        aria-pressed={name === mode}
        disabled={!arePictures && name !== 'beside'}
        onClick={() => setMode(name)}
      >
        {label}
      </Button>
    ))}
    <span class="hint note">{MODES.find(({ mode: name }) => name === mode)?.hint}</span>
  </div>
);

type LargeHalfProps = { facts: ComparisonFacts; pair: ShownPair; side: Side; path: string };

const LargeHalf = ({ facts, pair, side, path }: LargeHalfProps) => (
  <figure class="half">
    {path === '' ? (
      <NoFile half={pair[side]} />
    ) : (
      <LargeFile path={path} label={`${side.toUpperCase()}: ${pair.key}`} />
    )}
    <figcaption class="note wrap">
      <SideMark side={side} />
      {facts.sums.gpu[side] || facts[side].batch}
    </figcaption>
  </figure>
);

const LINES: readonly (readonly [label: string, text: (half: ShownHalf) => string])[] = [
  ['Outcome', ({ outcome }) => outcome],
  ['GPU', ({ gpu }) => gpu || '–'],
  ['Run', ({ seconds }) => (seconds > 0 ? span(seconds) : '–')],
  ['Cost', ({ cost }) => ifPaid(cost) || '–'],
  ['Attempts', ({ attempts }) => String(attempts)],
];

function PairSide({ facts, pair }: { facts: ComparisonFacts; pair: ShownPair }) {
  const lines = LINES.map(([label, text]): Line => {
    const differs = text(pair.a) !== text(pair.b);
    const cell = (side: Side) => ({
      text: differs ? <b>{text(pair[side])}</b> : text(pair[side]),
      outcome: label === 'Outcome' ? pair[side].outcome : '',
    });
    return [label, ...SIDES.map(cell)];
  });
  const marks = SIDES.map((side) => (
    <span key={side} title={facts[side].batch}>
      <SideMark side={side} />
    </span>
  ));
  return (
    <>
      <h2>{pair.key}</h2>
      <p class="facts">
        row {pair.a.row} of A, row {pair.b.row} of B <PairBadge pair={pair} />
      </p>
      <Lines heads={['', ...marks]} lines={lines} />
      {SIDES.filter((side) => pair[side].reason !== '').map((side) => (
        <p key={side} class="reason box" style={toneOf('failed')}>
          <SideMark side={side} /> {pair[side].reason}
        </p>
      ))}
      <Section title="Inputs that differ" isEmpty={pair.changes.length === 0}>
        <Changes pair={pair} most={pair.changes.length} class="lined" />
      </Section>
      <Section title="Other inputs" isEmpty={pair.inputs.length === 0}>
        <Terms class="cells lined" entries={pair.inputs} />
      </Section>
      {SIDES.flatMap((side) =>
        pair[side].texts.map((text, nth) => (
          <pre key={`${side}${nth}`} tabindex={0}>
            <SideMark side={side} />
            {'\n'}
            {text}
          </pre>
        )),
      )}
      <div class="actions wrap">
        {SIDES.map((side) => (
          <NewTab
            key={side}
            href={reportOf(facts, side, pair.key)}
            class="button"
            text={`Row in report ${side.toUpperCase()}`}
          />
        ))}
      </div>
    </>
  );
}

type OverlayProps = {
  mode: Mode;
  a: string;
  b: string;
  label: string;
  isHeld: boolean;
  isBright: boolean;
};

/** Two pictures over each other; the browser computes their difference. */
function Overlay({ mode, a, b, label, isHeld, isBright }: OverlayProps) {
  const [share, setShare] = useState(50);
  const [larger, setLarger] = useState({ area: 0, ratio: 1 });
  const measure = ({ width, height }: { width: number; height: number }) => {
    const area = width * height;
    setLarger((largest) => (area > largest.area ? { area, ratio: width / height } : largest));
  };
  const picture = (side: Side, src: string) => (
    <Picture
      key={src}
      class={`over-${side}`}
      src={src}
      alt={`${side.toUpperCase()}: ${label}`}
      draggable={false}
      onLoad={measure}
    />
  );
  return (
    <div
      class={`overlay ${mode} ${isHeld ? 'held' : ''} ${isBright ? 'bright' : ''}`}
      style={{ '--at': `${share}%`, '--ratio': larger.ratio }}
    >
      {picture('a', a)}
      {picture('b', b)}
      {mode === 'blink' && SIDES.map((side) => <SideMark key={side} side={side} />)}
      {mode === 'slider' && (
        <input
          type="range"
          class="handle"
          step="0.1"
          value={share}
          aria-label="How much of A is shown"
          onInput={({ currentTarget }) => setShare(Number(currentTarget.value))}
          // The arrow keys go to the neighbours again when the pointer has moved it.
          onPointerUp={({ currentTarget }) => currentTarget.closest('dialog')?.focus()}
        />
      )}
    </div>
  );
}
