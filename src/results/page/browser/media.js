// Shows a file of a row by its kind, which its extension tells: the worker that stored the file chose it from its first bytes.

import { make } from './dom.js';
import { drawPicture } from './pictures.js';

/** @type {(path: string) => 'picture' | 'video' | 'audio' | 'other'} */
export function kindOf(path) {
  if (/\.(a?png|jpe?g|webp|gif|avif|svg|bmp|ico)$/.test(path)) return 'picture';
  if (/\.(mp4|m4v|mov|webm|ogv)$/.test(path)) return 'video';
  return /\.(mp3|m4a|aac|wav|flac|ogg|oga|opus)$/.test(path) ? 'audio' : 'other';
}

/** @param {string} path */
const extensionOf = (path) => path.split('.').at(-1) ?? '';

/** What stands in the place of a picture. @type {(outcome: string, text: string) => HTMLElement} */
export const noPicture = (outcome, text) =>
  make(`div.no-picture.${outcome}`, make('b.tone', outcome), make('span.clamp', text));

/** A small view of a file; `small`: a small copy, which may be missing.
 * @type {(path: string, width: number, height: number, label: string, small?: string) => HTMLElement}
 */
export function smallView(path, width, height, label, small) {
  const kind = kindOf(path);
  if (kind === 'picture') {
    const canvas = make('canvas', { role: 'img', 'aria-label': label, width: 1, height: 1 });
    const done = (/** @type {boolean} */ isDrawn) => {
      if (isDrawn) canvas.classList.add('drawn');
      else if (small !== undefined) canvas.replaceWith(smallView(path, width, height, label));
      else canvas.replaceWith(make('small', 'picture not found'));
    };
    const size = { width: Math.floor(width), height: Math.floor(height) };
    drawPicture({ canvas, path: small ?? path, ...size, done });
    return canvas;
  }
  if (kind === 'video')
    return make('video', { src: path, muted: true, loop: true, preload: 'metadata', playsInline: true });
  if (kind === 'audio') return make('span.sound', wave(label), make('small', extensionOf(path)));
  return make('span.sound', make('b', extensionOf(path)), make('small', 'file'));
}

/** A drawing that stands for a sound; each row has another one. @param {string} text */
const wave = (text) =>
  make(
    'span.wave',
    Array.from({ length: 18 }, (_, at) => {
      const code = text.charCodeAt(at % Math.max(1, text.length)) || 40;
      return make('i', { style: { height: `${20 + ((code * (at + 7)) % 80)}%` } });
    }),
  );

/** The file in the enlarged view. @type {(path: string, label: string) => HTMLElement} */
export function largeView(path, label) {
  const kind = kindOf(path);
  if (kind === 'picture') return make('img', { src: path, alt: label, draggable: false });
  if (kind === 'video') return make('video', { src: path, controls: true, autoplay: true, loop: true });
  if (kind === 'audio') return make('audio', { src: path, controls: true });
  return make('a.button', { href: path, download: '' }, `Open ${path.split('/').at(-1)}`);
}
