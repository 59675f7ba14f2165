// Shows a file of a row by its kind, which its extension tells: the worker that stored the file chose it from its first bytes.

import type { ImgHTMLAttributes } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { mayMove, shownKindOf, type MediaKind } from '../../../host/formats/media-types.ts';
import { toneOf } from './view-parts.tsx';

export const kindOf = (path: string): MediaKind | 'other' => shownKindOf(path) ?? 'other';

const extensionOf = (path: string): string => path.split('.').at(-1) ?? '';

/** Stands in the place of a picture. */
export const NoPicture = ({ outcome, text }: { outcome: string; text: string }) => (
  <div class="no-picture" style={toneOf(outcome)}>
    <b class="tone">{outcome === 'open' ? 'not done yet' : outcome}</b>
    <span class="clamp">{text}</span>
  </div>
);

/** With reduced motion, films play only when the user starts them, and pictures that move stay at their beginning. */
const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
const isStill = (path: string): boolean => isCalm && !path.startsWith('report/small/') && mayMove(path);

type PictureProps = Omit<ImgHTMLAttributes, 'src' | 'alt' | 'class' | 'onLoad' | 'onError'> & {
  src: string;
  alt: string;
  class?: string;
  onLoad?: (size: { width: number; height: number }) => void;
  onError?: () => void;
};

/** A picture. A canvas takes the first frame of one that moves. */
export function Picture({ onLoad, onError, src, alt, ...attributes }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const draw = (picture: HTMLImageElement) => {
    const { width, height } = picture;
    if (canvas.current !== null)
      Object.assign(canvas.current, { width, height }).getContext('2d')?.drawImage(picture, 0, 0);
    onLoad?.({ width, height });
  };
  useEffect(() => {
    if (canvas.current) void loaded(src).then(draw, () => onError?.());
  }, []);
  if (isStill(src)) return <canvas ref={canvas} class={attributes.class} role="img" aria-label={alt} />;
  return (
    <img
      {...attributes}
      src={src}
      alt={alt}
      onError={onError}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
        onLoad?.({ width: naturalWidth, height: naturalHeight })
      }
    />
  );
}

type SmallFileProps = { path: string; label: string; small?: string | undefined };

/** `small`: a small copy, which may be missing and does not move. */
function SmallPicture({ path, small, label }: SmallFileProps) {
  const [source, setSource] = useState(small ?? path);
  if (source === '') return <small>picture not found</small>;
  const onError = () => setSource(source === path ? '' : path);
  return <Picture key={source} src={source} alt={label} loading="lazy" decoding="async" onError={onError} />;
}

export async function loaded(path: string): Promise<HTMLImageElement> {
  const image = Object.assign(new Image(), { src: path });
  await image.decode();
  return image;
}

type VideoEvent = { currentTarget: HTMLVideoElement };
const play = ({ currentTarget }: VideoEvent) => {
  if (!isCalm) void currentTarget.play().catch(() => undefined);
};
const pause = ({ currentTarget }: VideoEvent) => currentTarget.pause();

/** A small view of a file. */
export function SmallFile(props: SmallFileProps) {
  const { path, label } = props;
  const kind = kindOf(path);
  if (kind === 'picture') return <SmallPicture key={path} {...props} />;
  if (kind === 'video')
    return (
      <video
        key={path}
        src={path}
        aria-label={label}
        muted
        loop
        playsinline
        preload="metadata"
        onMouseOver={play}
        onMouseOut={pause}
      />
    );
  return (
    <span role="img" aria-label={label}>
      <b>{extensionOf(path)}</b> {kind === 'audio' ? '♪' : 'file'}
    </span>
  );
}

/** The file in the enlarged view. */
export function LargeFile({ path, label }: { path: string; label: string }) {
  const kind = kindOf(path);
  if (kind === 'picture') return <Picture key={path} src={path} alt={label} draggable={false} />;
  if (kind === 'video')
    return <video key={path} src={path} aria-label={label} controls autoplay={!isCalm} loop />;
  if (kind === 'audio') return <audio key={path} src={path} aria-label={label} controls />;
  return (
    <a class="button" href={path} download>
      Open {path.split('/').at(-1)}
    </a>
  );
}

/** A file in the strip of files. */
export const Thumb = ({ path }: { path: string }) =>
  kindOf(path) === 'picture' ? (
    <Picture key={path} src={path} alt={path} loading="lazy" />
  ) : (
    <>{extensionOf(path)}</>
  );
