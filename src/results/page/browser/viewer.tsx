// The enlarged view of a row or a pair: a dialog with a stage and a side, whose arrow keys go to the neighbours in the order shown.

import type { TargetedKeyboardEvent, TargetedMouseEvent, TargetedTouchEvent } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { kindOf } from './files.tsx';
import { Button, type Children } from './view-parts.tsx';
import { count } from '../../../options/text/printed-numbers.ts';

type ViewerProps = {
  place: number;
  length: number;
  name: string;
  go: (place: number) => void;
  onClose: () => void;
  /** Says whether the key did something. */
  onKey: (key: string) => boolean;
  onKeyUp?: (key: string) => void;
  /** The content of the strip of files; `file` is on the stage. */
  files: readonly Children[];
  file: number;
  setFile: (file: number) => void;
  /** The pictures at a place. */
  paths: (place: number) => readonly string[];
  side: Children;
  modes?: Children;
  stage: Children;
  stageClass: string;
  /** A click on the stage. */
  onStage?: (event: MouseEvent) => void;
  /** Called when a pointer begins to press the stage. */
  onPress?: () => void;
};

export function Viewer(props: ViewerProps) {
  const { place, length, name, go } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  const has = (to: number) => to >= 0 && to < length;
  // Keys may come faster than the page is drawn.
  const at = useRef(place);
  at.current = place;
  const step = (by: number) => {
    if (has(at.current + by)) go((at.current += by));
  };
  useLayoutEffect(() => {
    dialog.current?.showModal();
    dialog.current?.focus();
    return () => history.replaceState(undefined, '', location.pathname + location.search);
  }, []);
  useEffect(() => {
    history.replaceState(undefined, '', `#${encodeURIComponent(name)}`);
    // Neighbours are loaded in advance.
    const near = [1, -1, 2].map((by) => place + by).filter(has);
    const pictures = near.flatMap((to) => props.paths(to)).filter((path) => kindOf(path) === 'picture');
    const ahead = pictures.map((src) => Object.assign(new Image(), { src }));
    return () => void ahead.splice(0);
  }, [place, name]);
  const press = (event: TargetedKeyboardEvent<HTMLDialogElement>) => {
    const { ctrlKey, metaKey, altKey, target, key } = event;
    if (ctrlKey || metaKey || altKey || target instanceof HTMLMediaElement) return;
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };
    const by = target instanceof HTMLInputElement ? undefined : steps[key];
    if (by !== undefined) step(by);
    else if ((target instanceof HTMLButtonElement && key === ' ') || !props.onKey(key.toLowerCase())) return;
    event.preventDefault();
  };
  return (
    <dialog
      id="enlarged"
      ref={dialog}
      tabindex={-1}
      aria-label={`${name}, enlarged`}
      onClose={props.onClose}
      onKeyDown={press}
      onKeyUp={({ key }) => props.onKeyUp?.(key)}
    >
      <div class="viewer">
        {props.modes}
        <Stage {...props} step={step} close={close} />
        {props.files.length > 1 && <Strip {...props} />}
        <Arrow
          id="before"
          label="Previous"
          sign="‹"
          mark="←"
          isOff={!has(place - 1)}
          go={() => step(-1)}
        />{' '}
        <Arrow id="after" label="Next" sign="›" mark="→" isOff={!has(place + 1)} go={() => step(1)} />
        <span id="position" class="note" aria-live="polite">
          {count(place + 1)} of {count(length)}
        </span>
        <Button id="close" aria-label="Close" title="key Esc" onClick={close}>
          ×
        </Button>
      </div>
      <div id="side" tabindex={0} role="region" aria-label={`About ${name}`}>
        {props.side}
      </div>
    </dialog>
  );
}

const Strip = ({ files, file, setFile }: Pick<ViewerProps, 'files' | 'file' | 'setFile'>) => (
  <div id="strip">
    {files.map((thumb, nth) => (
      <Button
        key={nth}
        class="thumb"
        aria-label={`file ${nth + 1}`}
        aria-pressed={nth === file}
        onClick={() => setFile(nth)}
      >
        {thumb}
      </Button>
    ))}
  </div>
);

type ArrowProps = { id: string; label: string; sign: string; mark: string; isOff: boolean; go: () => void };

/** `mark`: the key of the keyboard. */
const Arrow = ({ id, label, sign, mark, isOff, go }: ArrowProps) => (
  <Button id={id} class="arrow" aria-label={label} title={`key ${mark}`} disabled={isOff} onClick={go}>
    {sign}
  </Button>
);

type StageProps = Pick<ViewerProps, 'stage' | 'stageClass' | 'onStage' | 'onPress'> & {
  step: (by: number) => void;
  close: () => void;
};

/** A swipe goes to a neighbour, and a click beside the picture closes. */
function Stage({ stage, stageClass, onStage, onPress, step, close }: StageProps) {
  const from = useRef(0);
  const swipe = ({ changedTouches: [touch], target }: TargetedTouchEvent<HTMLDivElement>) => {
    const way = (touch?.clientX ?? 0) - from.current;
    const isMoved =
      stageClass === 'actual' || (target instanceof Element && target.closest('.overlay') !== null);
    if (Math.abs(way) > 60 && !isMoved) step(way < 0 ? 1 : -1);
  };
  const click = (event: TargetedMouseEvent<HTMLDivElement>) =>
    event.target === event.currentTarget ? close() : onStage?.(event);
  return (
    <div
      id="stage"
      class={stageClass}
      onClick={click}
      onPointerDown={onPress}
      onTouchStart={({ touches: [touch] }) => {
        from.current = touch?.clientX ?? 0;
      }}
      onTouchEnd={swipe}
    >
      {stage}
    </div>
  );
}
