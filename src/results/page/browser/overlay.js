// Two pictures over each other: a slider between them, one after the other, or their difference, which the browser computes.

import { html, useRef, useState, useLayoutEffect } from './parts.js';
import { SideMark, SIDES } from './pairs.js';

/** @param {{ mode: string, a: string, b: string, label: string, isHeld: boolean, isBright: boolean }} props */
export function Overlay({ mode, a, b, label, isHeld, isBright }) {
  const box = useRef();
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [share, setShare] = useState(0.5);
  const fit = () => setSize(fitted(box.current));
  useLayoutEffect(() => {
    const watching = new ResizeObserver(fit);
    watching.observe(box.current.parentElement);
    return () => watching.disconnect();
  }, []);
  const drag = ({ clientX, type, pointerId }) => {
    if (mode !== 'slider') return;
    if (type === 'pointerdown') box.current.setPointerCapture(pointerId);
    if (!box.current.hasPointerCapture(pointerId)) return;
    const { left, width } = box.current.getBoundingClientRect();
    setShare(Math.min(1, Math.max(0, (clientX - left) / width)));
  };
  const style = {
    width: `${size.width}px`,
    height: `${size.height}px`,
    '--at': `${(share * 100).toFixed(2)}%`,
  };
  const picture = (side, src) =>
    html`<img class="over-${side}" src=${src} alt="${side.toUpperCase()}: ${label}" draggable=${false} onLoad=${fit} />`;
  const handle = html`<input type="range" class="handle" min="0" max="1000" aria-label="How much of A is shown"
    value=${Math.round(share * 1_000)} onInput=${({ target }) => setShare(Number(target.value) / 1_000)} />`;
  return html`<div class="overlay ${mode} ${isHeld ? 'held' : ''} ${isBright ? 'bright' : ''}" ref=${box} style=${style}
    onPointerDown=${drag} onPointerMove=${drag}>
    ${picture('a', a)}${picture('b', b)}${mode === 'blink' && SIDES.map((side) => html`<${SideMark} side=${side} />`)}${mode === 'slider' && handle}
  </div>`;
}

/** As large as the larger picture, so that the slider moves over the picture and not beside it. @param {HTMLElement} box */
function fitted(box) {
  const pictures = [...box.querySelectorAll('img')].map(({ naturalWidth: width, naturalHeight: height }) => ({
    width,
    height,
  }));
  const [first] = pictures.sort((x, y) => y.width * y.height - x.width * x.height);
  if (box.parentElement === null || first === undefined || first.width === 0) return { width: 0, height: 0 };
  const style = getComputedStyle(box.parentElement);
  const inner = (length, ...paddings) =>
    paddings.reduce((left, one) => left - Number.parseFloat(one), Number.parseFloat(length));
  const scale = Math.min(
    inner(style.width, style.paddingLeft, style.paddingRight) / first.width,
    inner(style.height, style.paddingTop, style.paddingBottom) / first.height,
  );
  return { width: Math.floor(first.width * scale), height: Math.floor(first.height * scale) };
}
