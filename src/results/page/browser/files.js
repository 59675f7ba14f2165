// Shows a file of a row by its kind, which its extension tells: the worker that stored the file chose it from its first bytes.

import { html, toneOf, useEffect, useRef, useState } from './parts.js';

/** @type {(path: string) => 'picture' | 'video' | 'audio' | 'other'} */
export function kindOf(path) {
  if (/\.(a?png|jpe?g|webp|gif|avif|svg|bmp|ico)$/.test(path)) return 'picture';
  if (/\.(mp4|m4v|mov|webm|ogv)$/.test(path)) return 'video';
  return /\.(mp3|m4a|aac|wav|flac|ogg|oga|opus)$/.test(path) ? 'audio' : 'other';
}

/** @param {string} path */
const extensionOf = (path) => path.split('.').at(-1) ?? '';

/** What stands in the place of a picture. @param {{ outcome: string, text: string }} props */
export const NoPicture = ({ outcome, text }) =>
  html`<div class="no-picture" style=${toneOf(outcome)}>
    <b class="tone">${outcome === 'open' ? 'not done yet' : outcome}</b><span class="clamp">${text}</span>
  </div>`;

/** With reduced motion, films play only when the user starts them, and pictures that move stay at their beginning. */
const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
const isStill = (path) => isCalm && /^(?!report\/small\/).*\.(gif|apng|webp|avif)$/.test(path);

/** A picture; a canvas takes the first one of those that move. @param {{ src: string, alt: string, [other: string]: any }} props */
export function Picture({ onLoad, onError, ...props }) {
  const canvas = useRef();
  const draw = (picture) => {
    const { width, height } = picture;
    Object.assign(canvas.current ?? {}, { width, height })
      .getContext?.('2d')
      .drawImage(picture, 0, 0);
    onLoad?.({ currentTarget: picture });
  };
  useEffect(() => {
    if (canvas.current) void loaded(props.src).then(draw, () => onError?.());
  }, []);
  if (!isStill(props.src)) return html`<img ...${{ ...props, onLoad, onError }} />`;
  return html`<canvas ref=${canvas} class=${props.class} role="img" aria-label=${props.alt}></canvas>`;
}

/** @typedef {{ path: string, label: string, small?: string | undefined }} SmallProps */

/** `small`: a small copy, which may be missing, and does not move. @param {SmallProps} props */
function SmallPicture({ path, small, label }) {
  const [source, setSource] = useState(small ?? path);
  if (source === '') return html`<small>picture not found</small>`;
  const onError = () => setSource(source === path ? '' : path);
  return html`<${Picture} key=${source} src=${source} alt=${label} loading="lazy" decoding="async" onError=${onError} />`;
}

/** @param {string} path */
export async function loaded(path) {
  const image = Object.assign(new Image(), { src: path });
  await image.decode();
  return image;
}

const play = ({ currentTarget, type }) =>
  type === 'mouseover' && !isCalm ? void currentTarget.play().catch(() => undefined) : currentTarget.pause();

/** A small view of a file. @param {SmallProps} props */
export function SmallFile(props) {
  const { path, label } = props;
  const kind = kindOf(path);
  if (kind === 'picture') return html`<${SmallPicture} key=${path} ...${props} />`;
  if (kind === 'video')
    return html`<video key=${path} src=${path} aria-label=${label} muted loop playsinline preload="metadata"
      onMouseOver=${play} onMouseOut=${play}></video>`;
  return html`<span role="img" aria-label=${label}><b>${extensionOf(path)}</b> ${kind === 'audio' ? '♪' : 'file'}</span>`;
}

/** The file in the enlarged view. @param {{ path: string, label: string }} props */
export function LargeFile({ path, label }) {
  const own = { key: path, src: path };
  const kind = kindOf(path);
  if (kind === 'picture') return html`<${Picture} ...${own} alt=${label} draggable=${false} />`;
  if (kind === 'video')
    return html`<video ...${own} aria-label=${label} controls autoplay=${!isCalm} loop></video>`;
  if (kind === 'audio') return html`<audio ...${own} aria-label=${label} controls></audio>`;
  return html`<a class="button" href=${path} download>Open ${path.split('/').at(-1)}</a>`;
}

/** In the strip of files. @param {{ path: string }} props */
export const Thumb = ({ path }) =>
  kindOf(path) === 'picture'
    ? html`<${Picture} key=${path} src=${path} alt=${path} loading="lazy" />`
    : extensionOf(path);
