// The pictures that a terminal gets: the right codes for it, and the rows that ended last.

import sharp from 'sharp';
import { decode } from 'sixel';
import { describe, expect, it } from 'vitest';
import { LatestPictures } from '../../src/cli/follow/latest-pictures.ts';
import type { ProgressView } from '../../src/cli/follow/progress-view.ts';
import { protocolFor, terminalPicture } from '../../src/cli/follow/terminal-pictures.ts';
import { openStrips, type Strip } from '../../src/results/picture-strip.ts';
import { scene } from '../results/export/scene.ts';
import { noisePng } from '../results/page/large-pictures.ts';

/** Escape and bell as words. */
const readable = (codes: string): string =>
  codes.replaceAll('\u001B', '<esc>').replaceAll('\u0007', '<bell>');

const solid = (width: number, height: number, background: string): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

async function stripOf(...pictures: readonly Uint8Array[]): Promise<Strip> {
  const strip = await (await openStrips())?.(pictures);
  if (strip === undefined) throw new Error('there is no strip');
  return strip;
}

describe('the protocol of a terminal', () => {
  it.each([
    ['kitty', { TERM: 'xterm-kitty', KITTY_WINDOW_ID: '1' }],
    ['kitty', { TERM: 'xterm-ghostty', TERM_PROGRAM: 'ghostty' }],
    ['iterm2', { TERM_PROGRAM: 'iTerm.app' }],
    ['iterm2', { TERM_PROGRAM: 'WezTerm' }],
    ['iterm2', { LC_TERMINAL: 'iTerm2' }],
    ['sixel', { TERM: 'foot' }],
    ['sixel', { WT_SESSION: 'a1' }],
  ])('is %s for %o', (protocol, environment) =>
    expect(protocolFor('auto', environment, true)).toBe(protocol),
  );

  it('is the one that the user names', () =>
    expect(protocolFor('sixel', { TERM: 'xterm-256color' }, true)).toBe('sixel'));

  it.each([
    ['is not known', { TERM: 'xterm-256color' }, true, '--pictures kitty, iterm2 or sixel'],
    ['is behind a multiplexer', { TERM: 'tmux-256color', KITTY_WINDOW_ID: '1' }, true, 'kitty'],
    ['does not exist', { TERM: 'xterm-kitty' }, false, 'remove --pictures'],
  ])('is refused if it %s', (_, environment, isTerminal, hint) =>
    expect(() => protocolFor('auto', environment, isTerminal)).toThrow(
      expect.objectContaining({ code: 'E602', hint: expect.stringContaining(hint) as string }),
    ),
  );
});

describe('a strip', () => {
  it('has the pictures side by side in their proportions, small, without those that cannot be decoded', async () => {
    const pictures = [
      await solid(1200, 600, 'red'),
      Buffer.from('no picture'),
      await solid(300, 300, 'blue'),
    ];
    const { width, height, png, rgba } = await stripOf(...pictures);
    expect([width, height, rgba.length]).toEqual([240 + 8 + 120, 120, width * height * 4]);
    const at = (x: number): readonly number[] => [...rgba.subarray((60 * width + x) * 4).subarray(0, 4)];
    expect([at(10), at(244), at(300)]).toEqual([
      [255, 0, 0, 255],
      [0, 0, 0, 0],
      [0, 0, 255, 255],
    ]);
    expect(await sharp(png).metadata()).toMatchObject({ width, height });
  });

  it('does not exist without a picture that can be decoded', async () =>
    expect(await (await openStrips())?.([Buffer.from('<svg')])).toBeUndefined());
});

describe('a terminal', () => {
  it('of kitty gets the PNG in pieces', async () => {
    const strip = await stripOf(noisePng(120, 1));
    const codes = readable(await terminalPicture('kitty', strip));
    const pieces = [...codes.matchAll(/<esc>_G([^;]*);([^<]*)<esc>\\/g)];
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.map(([, control]) => /m=(\d)/.exec(control ?? '')?.[1]).join('')).toMatch(/^1+0$/);
    expect(pieces[0]?.[1]).toContain('f=100');
    expect(Buffer.from(pieces.map(([, , data]) => data).join(''), 'base64')).toEqual(Buffer.from(strip.png));
  });

  it('of iTerm2 gets the PNG with its size', async () => {
    const strip = await stripOf(await solid(10, 10, 'red'));
    const [, size, data = ''] =
      /^<esc>]1337;File=inline=1;size=(\d+);[^:]*:([^<]+)<bell>\n$/.exec(
        readable(await terminalPicture('iterm2', strip)),
      ) ?? [];
    expect(Number(size)).toBe(strip.png.length);
    expect(Buffer.from(data, 'base64')).toEqual(Buffer.from(strip.png));
  });

  it('with sixel gets the pixels', async () => {
    const strip = await stripOf(await solid(10, 10, 'red'));
    const { width, height, data32 } = decode(
      readable(await terminalPicture('sixel', strip)).replaceAll(/^<esc>P[^q]*q|<esc>\\\n$/g, ''),
    );
    expect([width, height, (data32[0] ?? 0) & 0xffffff]).toEqual([strip.width, 120, 0x0000ff]);
  });
});

describe('a batch that is followed', () => {
  const watched = () => {
    const drawn: string[] = [];
    const notes: string[] = [];
    const view: ProgressView = {
      show: () => undefined,
      note: (text) => void notes.push(text),
      picture: (codes) => void drawn.push(codes),
      end: () => undefined,
    };
    return { drawn, notes, view };
  };
  const opened = async (found: Parameters<typeof LatestPictures.open>[0]) => {
    const makeStrip = await openStrips();
    if (makeStrip === undefined) throw new Error('sharp is missing');
    return LatestPictures.open(found, { protocol: 'iterm2', makeStrip });
  };

  it('shows the latest pictures once, with their keys', async () => {
    using batch = await scene(['fox', 'hen', 'owl']);
    const { drawn, view } = watched();
    const pictures = await opened(batch.found);
    await pictures.show(view, 0);
    await pictures.show(view, 10_000, true);
    expect(drawn).toHaveLength(1);
    expect(readable(drawn[0] ?? '')).toMatch(/<bell>\nSKU 1 · SKU 2\n$/);
  });

  it('goes on without pictures if they cannot be read', async () => {
    using batch = await scene(['fox', 'hen']);
    const { drawn, notes, view } = watched();
    const pictures = await opened({
      ...batch.found,
      store: { ...batch.found.store, read: async () => Promise.reject(new Error('no disk')) },
    });
    await pictures.show(view, 0);
    await pictures.show(view, 10_000);
    expect([drawn, notes]).toEqual([[], ['no more pictures: no disk']]);
  });
});
