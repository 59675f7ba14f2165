// How terminals show pictures: kitty's graphics protocol, iTerm2's inline images, and sixel. A terminal cannot be asked while a
// batch is followed, so its name decides, and the user may name the protocol.

import { problem } from '../../errors/error.ts';
import type { PictureFlag } from '../flags/flags.ts';
import type { Strip } from '../../results/picture-strip.ts';

export type Protocol = Exclude<PictureFlag, 'auto'>;

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws E602 for a terminal that is not known to show pictures, and without a terminal. */
export function protocolFor(wish: PictureFlag, environment: Environment, isTerminal: boolean): Protocol {
  if (!isTerminal)
    throw problem('E602', {
      what: '--pictures needs a terminal',
      hint: 'remove --pictures; the report shows all pictures',
    });
  const protocol = wish === 'auto' ? knownProtocol(environment) : wish;
  if (protocol !== undefined) return protocol;
  throw problem('E602', {
    what: `this terminal is not known to show pictures (TERM=${environment['TERM'] ?? ''})`,
    hint: 'if it does, name how: --pictures kitty, iterm2 or sixel; else remove --pictures: the report shows all pictures',
  });
}

/** A multiplexer keeps pictures from the terminal behind it. */
function knownProtocol(environment: Environment): Protocol | undefined {
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL = '', TMUX, STY } = environment;
  if (TMUX || STY || /^(?:screen|tmux)/.test(TERM)) return undefined;
  const { KITTY_WINDOW_ID, KONSOLE_VERSION, WT_SESSION } = environment;
  if (KITTY_WINDOW_ID || KONSOLE_VERSION || /kitty|ghostty/.test(TERM) || TERM_PROGRAM === 'ghostty')
    return 'kitty';
  if (/^(?:iTerm\.app|WezTerm|mintty)$/.test(TERM_PROGRAM) || LC_TERMINAL === 'iTerm2') return 'iterm2';
  if (WT_SESSION || /^(?:foot|mlterm|contour|yaft)/.test(TERM)) return 'sixel';
  return undefined;
}

/** Lines of the terminal that a picture takes. */
const ROWS = 6;
const KITTY_CHUNK = 4096;

const ENCODE: Readonly<Record<Protocol, (strip: Strip) => string | Promise<string>>> = {
  kitty: ({ png }) => {
    const data = Buffer.from(png).toString('base64');
    const chunks = data.match(new RegExp(`.{1,${KITTY_CHUNK}}`, 'g')) ?? [];
    return chunks
      .map((chunk, at) => {
        const control = at === 0 ? `a=T,f=100,q=2,r=${ROWS},` : '';
        return `\u001B_G${control}m=${Number(at < chunks.length - 1)};${chunk}\u001B\\`;
      })
      .join('');
  },
  iterm2: ({ png }) =>
    `\u001B]1337;File=inline=1;size=${png.length};height=${ROWS};preserveAspectRatio=1:${Buffer.from(png).toString('base64')}\u0007`,
  sixel: async ({ rgba, width, height }) => {
    // Loaded only for terminals with sixel.
    const { image2sixel } = await import('sixel');
    return image2sixel(rgba, width, height);
  },
};

/** What the terminal draws at its cursor, ended by a line break. */
export const terminalPicture = async (protocol: Protocol, strip: Strip): Promise<string> =>
  `${await ENCODE[protocol](strip)}\n`;
