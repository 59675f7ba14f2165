// Makes thumbnails for workbooks and for the cards of a report. The decoder is an optional package; without
// it there are no thumbnails, and the export says so.

import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pMapIterable } from 'p-map';

const AT_A_TIME = 4;
const QUALITY = 75;

/** Larger files are not decoded. */
export const THUMBNAIL_BYTES = 64 * 1024 * 1024;

/** The pictures that the decoder reads. */
const IS_PICTURE = /\.(?:a?png|jpe?g|webp|gif|avif|tiff?)$/;

export const isPicture = (path: string): boolean => IS_PICTURE.test(path);

/** `side`: their longest side, in pixels. A JPEG has white where the picture is transparent. */
export type ThumbnailKind = { readonly side: number; readonly format: 'jpeg' | 'webp' };
export type Thumbnail = { readonly bytes: Uint8Array; readonly width: number; readonly height: number };
export type Decode = (picture: Uint8Array) => Promise<Thumbnail | undefined>;

/** Undefined if the package is not installed for this machine. */
export async function openDecoder({ side, format }: ThumbnailKind): Promise<Decode | undefined> {
  const sharp = await import('sharp').then((module) => module.default).catch(() => undefined);
  if (sharp === undefined) return undefined;
  return async (picture) => {
    try {
      const small = sharp(picture)
        .autoOrient()
        .resize(side, side, { fit: 'inside', withoutEnlargement: true });
      const encoded =
        format === 'jpeg'
          ? small.flatten({ background: 'white' }).jpeg({ quality: QUALITY })
          : small.webp({ quality: QUALITY, effort: 1 });
      const { data, info } = await encoded.toBuffer({ resolveWithObject: true });
      return { bytes: data, width: info.width, height: info.height };
    } catch {
      // An undecodable picture has no thumbnail; its link remains.
      return undefined;
    }
  };
}

/** Undefined for a missing file, and for a file that is not a picture. */
export async function thumbnailOf(file: Readable, decode: Decode): Promise<Thumbnail | undefined> {
  const bytes = await buffer(file).catch(() => undefined);
  return bytes && decode(bytes);
}

export async function* thumbnails<T extends { readonly path: string }>(
  wanted: readonly T[],
  open: (path: string) => Readable,
  decode: Decode,
): AsyncGenerator<T & Thumbnail> {
  const made = async (picture: T) => {
    const thumbnail = await thumbnailOf(open(picture.path), decode);
    return thumbnail && { ...picture, ...thumbnail };
  };
  for await (const picture of pMapIterable(wanted, made, { concurrency: AT_A_TIME }))
    if (picture !== undefined) yield picture;
}
