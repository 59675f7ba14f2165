// Two pictures over each other: a slider between them, one after the other, or their difference, which the browser computes.

import { make } from './dom.js';

/** @typedef {'slider' | 'blink' | 'difference'} OverlayMode */

/**
 * @param {OverlayMode} mode
 * @param {string} a
 * @param {string} b
 * @param {string} label
 */
export function overlayOf(mode, a, b, label) {
  const pictures = /** @type {const} */ (['a', 'b']).map((side) =>
    make('img', {
      src: side === 'a' ? a : b,
      alt: `${side.toUpperCase()}: ${label}`,
      className: `over-${side}`,
      draggable: false,
    }),
  );
  const box = make('div', `overlay ${mode}`, ...pictures, ...(mode === 'slider' ? [handle()] : []));
  const fit = () => fitInto(box, pictures);
  for (const picture of pictures) picture.onload = fit;
  const watching = new ResizeObserver(() => (box.isConnected ? fit() : watching.disconnect()));
  requestAnimationFrame(() => {
    if (box.parentElement !== null) watching.observe(box.parentElement);
  });
  if (mode === 'slider') drag(box);
  return box;
}

/** Makes the box as large as the larger picture, so that the slider moves over the picture and not beside it.
 * @param {HTMLElement} box
 * @param {readonly HTMLImageElement[]} pictures
 */
function fitInto(box, pictures) {
  const stage = box.parentElement;
  const [first] = pictures.toSorted(
    (x, y) => y.naturalWidth * y.naturalHeight - x.naturalWidth * x.naturalHeight,
  );
  if (stage === null || first === undefined || first.naturalWidth === 0) return;
  const style = getComputedStyle(stage);
  const width =
    stage.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
  const height =
    stage.clientHeight - Number.parseFloat(style.paddingTop) - Number.parseFloat(style.paddingBottom);
  const scale = Math.min(width / first.naturalWidth, height / first.naturalHeight);
  box.style.width = `${Math.floor(first.naturalWidth * scale)}px`;
  box.style.height = `${Math.floor(first.naturalHeight * scale)}px`;
}

const handle = () =>
  make('input', {
    type: 'range',
    min: 0,
    max: 1000,
    value: '500',
    className: 'handle',
    'aria-label': 'How much of A is shown',
  });

/** @param {HTMLElement} box */
function drag(box) {
  const range = /** @type {HTMLInputElement} */ (box.querySelector('.handle'));
  const show = (/** @type {number} */ share) => {
    box.style.setProperty('--at', `${(share * 100).toFixed(2)}%`);
    range.value = String(Math.round(share * 1000));
  };
  const follow = (/** @type {PointerEvent} */ event) => {
    const { left, width } = box.getBoundingClientRect();
    show(Math.min(1, Math.max(0, (event.clientX - left) / width)));
  };
  range.oninput = () => show(Number(range.value) / 1000);
  box.onpointerdown = (event) => {
    event.preventDefault();
    box.setPointerCapture(event.pointerId);
    follow(event);
  };
  box.onpointermove = (event) => {
    if (box.hasPointerCapture(event.pointerId)) follow(event);
  };
  show(0.5);
}
