// The enlarged view of a row or a pair: a dialog with a stage and a side, whose arrow keys go to the neighbours in the order shown.

import { Button, html, useEffect, useLayoutEffect, useRef } from './parts.js';
import { kindOf } from './files.js';
import { count } from './text.js';

/**
 * `paths`: of the pictures at a place; `files`: what the strip shows of each file, of which `file` is on the stage; `onStage`: a click
 * on it; `onPress`: as long as a pointer presses; `onKey`: says whether the key did something. @param {Record<string, any>} props
 */
export function Viewer(props) {
  const { place, length, name, go, onClose, onKey, onKeyUp, file, files, setFile, side, modes } = props;
  const dialog = useRef();
  const close = () => dialog.current?.close();
  const has = (one) => one >= 0 && one < length;
  // Keys may come faster than the page is drawn.
  const at = useRef(place);
  at.current = place;
  const step = (by) => has(at.current + by) && go((at.current += by));
  useLayoutEffect(() => {
    dialog.current?.showModal();
    dialog.current?.focus();
    return () => history.replaceState(undefined, '', location.pathname + location.search);
  }, []);
  useEffect(() => {
    history.replaceState(undefined, '', `#${encodeURIComponent(name)}`);
    // Neighbours are loaded in advance.
    const near = [1, -1, 2].map((by) => place + by).filter(has);
    const pictures = near.flatMap((one) => props.paths(one)).filter((path) => kindOf(path) === 'picture');
    const ahead = pictures.map((src) => Object.assign(new Image(), { src }));
    return () => void ahead.splice(0);
  }, [place, name]);
  const press = (event) => {
    const { ctrlKey, metaKey, altKey, target, key } = event;
    if (ctrlKey || metaKey || altKey || target instanceof HTMLMediaElement) return;
    const by = target instanceof HTMLInputElement ? undefined : { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (by !== undefined) step(by);
    else if ((target instanceof HTMLButtonElement && key === ' ') || !onKey(key.toLowerCase())) return;
    event.preventDefault();
  };
  const thumb = (one, nth) =>
    html`<${Button} name="thumb" of="file ${nth + 1}" aria-pressed=${nth === file} onClick=${() => setFile(nth)}>${one}<//>`;
  const arrow = (id, of, by, key) =>
    html`<${Button} id=${id} name="arrow" of=${of} title="key ${key}" disabled=${!has(place + by)}
      onClick=${() => step(by)}>${by < 0 ? '‹' : '›'}<//>`;
  return html`<dialog id="enlarged" ref=${dialog} tabindex="-1" aria-label="${name}, enlarged"
    onClose=${onClose} onKeyDown=${press} onKeyUp=${({ key }) => onKeyUp?.(key)}>
    <div class="viewer">
      ${modes}
      <${Stage} ...${props} step=${step} close=${close} />
      ${files.length > 1 && html`<div id="strip">${files.map(thumb)}</div>`}
      ${arrow('before', 'Previous', -1, '←')} ${arrow('after', 'Next', 1, '→')}
      <span id="position" class="note" aria-live="polite">${count(place + 1)} of ${count(length)}</span>
      <${Button} id="close" of="Close" title="key Esc" onClick=${close}>×<//>
    </div>
    <div id="side" tabindex="0" role="region" aria-label="About ${name}">${side}</div>
  </dialog>`;
}

/** A swipe goes to a neighbour, and a click beside the picture closes. */
function Stage({ stage, stageName, onStage, onPress, step, close }) {
  const from = useRef(0);
  const swipe = ({ changedTouches: [touch], target }) => {
    const way = (touch?.clientX ?? 0) - from.current;
    const isMoved = stageName === 'actual' || target.closest('.overlay') !== null;
    if (Math.abs(way) > 60 && !isMoved) step(way < 0 ? 1 : -1);
  };
  const click = (event) => (event.target === event.currentTarget ? close() : onStage?.(event));
  return html`<div id="stage" class=${stageName} onClick=${click} onPointerDown=${() => onPress?.()}
    onTouchStart=${({ touches: [touch] }) => (from.current = touch?.clientX ?? 0)} onTouchEnd=${swipe}>${stage}</div>`;
}
