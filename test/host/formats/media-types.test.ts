// A file is a picture, a video or audio by one table, whoever asks: the guesses about a sheet, names of outputs, and vendors' answers.

import { describe, expect, it } from 'vitest';
import { mediaKindOf, mediaTypeOf, shownKindOf } from '../../../src/host/formats/media-types.ts';
import { isPicture } from '../../../src/results/thumbnails.ts';
import { fileNameIn } from '../../../src/run-service/executors/vendors/vendor-answers.ts';
import { isFile, isOfKind } from '../../../src/sheet/guesses/sample.ts';
import { RowFileNames } from '../../../src/sheet/output-name.ts';

const FILES = [
  ['scan.HEIC', 'image', 'video'],
  ['photo.jfif', 'image', 'audio'],
  ['fox.apng', 'image', 'audio'],
  ['clip.avi', 'video', 'image'],
  ['voice.oga', 'audio', 'image'],
] as const;

describe('a media file', () => {
  it.each(FILES)('%s is a file for an input of %s, and not for one of %s', (file, type, unfit) => {
    expect([isFile(file), isOfKind(file, { type }), isOfKind(file, { type: unfit })]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it.each(FILES)('%s loses its extension in the name of an output', (file) => {
    const names = new RowFileNames('{file}', ['file']);
    expect(names.nameOf({ row: 1, key: 'row-1', cellOf: () => file })).toEqual({ name: file.split('.')[0] });
  });

  it('is an animation for an input of videos: AVIF and animated PNG as well as GIF', () => {
    expect(['a.gif', 'a.avif', 'a.apng', 'a.png'].map((file) => isOfKind(file, { type: 'video' }))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('has the usual extension of its type in the answer of a vendor', () => {
    const types = [
      'image/jpeg',
      'image/svg+xml',
      'video/mpeg',
      'video/quicktime',
      'audio/mpeg',
      'audio/x-wav',
    ];
    expect(types.map((type) => fileNameIn(`data:${type};base64,AAAA`))).toEqual(
      ['jpg', 'svg', 'mpg', 'mov', 'mp3', 'wav'].map((extension) => `output.${extension}`),
    );
  });

  it('has a thumbnail where the decoder reads it, also an animated PNG', () => {
    expect(['a.apng', 'a.jpg', 'a.heic', 'a.svg'].map((path) => isPicture(path))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('is shown by a page only in formats of browsers', () => {
    expect(['a.svg', 'a.tiff', 'a.webm', 'a.mkv'].map((path) => shownKindOf(path))).toEqual([
      'picture',
      undefined,
      'video',
      undefined,
    ]);
  });

  it('has a kind only by an extension: a word and a text have none', () => {
    expect(['png', 'a fox', 'notes.txt', 'mesh.glb'].map((name) => mediaKindOf(name))).toEqual(
      Array(4).fill(undefined),
    );
    expect([mediaTypeOf('a.heic'), mediaTypeOf('rows/a.html')]).toEqual([
      'image/heic',
      'application/octet-stream',
    ]);
  });
});
