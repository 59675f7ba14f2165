// Two pictures over each other: a slider between them, one after the other, or their difference, which the browser computes.

import { make } from './dom.js';

/** @type {(mode: 'slider' | 'blink' | 'difference', pictures: { a: string, b: string }, label: string) => HTMLElement} */
export function overlayOf(mode, pictures, label) {
  const images = /** @type {const} */ (['a', 'b']).map((side) =>
    make(`img.over-${side}`, {
      src: pictures[side],
      alt: `${side.toUpperCase()}: ${label}`,
      draggable: false,
    }),
  );
  const box = make(`div.overlay.${mode}`, images);
  const fit = () => fitInto(box, images);
  for (const one of images) one.onload = fit;
  const watching = new ResizeObserver(() => (box.isConnected ? fit() : watching.disconnect()));
  requestAnimationFrame(() => {
    if (box.parentElement !== null) watching.observe(box.parentElement);
  });
  if (mode === 'slider') drag(box);
  return box;
}

/** Makes the box as large as the larger picture, so that the slider moves over the picture and not beside it.
 * @type {(box: HTMLElement, pictures: readonly HTMLImageElement[]) => void}
 */
function fitInto(box, pictures) {
  const stage = box.parentElement;
  const [first] = pictures.toSorted(
    (x, y) => y.naturalWidth * y.naturalHeight - x.naturalWidth * x.naturalHeight,
  );
  if (stage === null || first === undefined || first.naturalWidth === 0) return;
  const style = getComputedStyle(stage);
  const [width = 0, height = 0] = [style.width, style.height].map((one) => Number.parseFloat(one));
  const padding = (/** @type {string[]} */ ...sides) =>
    sides.reduce((sum, side) => sum + Number.parseFloat(style.getPropertyValue(`padding-${side}`)), 0);
  const scale = Math.min(
    (width - padding('left', 'right')) / first.naturalWidth,
    (height - padding('top', 'bottom')) / first.naturalHeight,
  );
  box.style.width = `${Math.floor(first.naturalWidth * scale)}px`;
  box.style.height = `${Math.floor(first.naturalHeight * scale)}px`;
}

/** @param {HTMLElement} box */
function drag(box) {
  const name = 'How much of A is shown';
  const range = make('input.handle', { type: 'range', min: 0, max: 1000, 'aria-label': name });
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
  box.append(range);
  show(0.5);
}
