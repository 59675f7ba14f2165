// Prompts as Midjourney takes them: `/imagine prompt: https://…/fox.png a fox::2 --ar 16:9 --no people`. A model would take the
// parameters for words. Source: https://docs.midjourney.com/hc/en-us/articles/32859204029709-Parameter-List.

const NAMES =
  'ar|aspect|c|chaos|cref|cw|draft|exp|fast|hd|iw|niji|no|oref|ow|p|personalize|profile|q|quality|r|raw|relax|repeat|s|seed|sref|' +
  'stop|style|stylize|sv|sw|tile|turbo|uplight|v|version|video|w|weird';

/** The signs before a name. Phones write -- as a dash, which prose has too, but not before a name with a number. */
const SIGNS = String.raw`(?:--|[—–](?=(?:ar|aspect|chaos|iw|niji|s|seed|stylize|v)\s+\d))`;

/** A parameter with its value, up to the next one. */
const PARAMETER = new RegExp(
  String.raw`(?:^|\s)${SIGNS}(${NAMES})(?![\w-])((?:(?!\s${SIGNS}[a-z])[^])*)`,
  'gi',
);
const COMMAND = /^\s*\/imagine\b\s*(?:prompt\s*:)?\s*/i;
const IMAGE = /^(?:<?https?:\/\/\S+>?\s+)+/i;
const WEIGHT = /::\s*-?(?:\d+(?:\.\d+)?)?/g;

/** Whether the text has the command or a parameter. */
export const isMidjourney = (text: string): boolean => COMMAND.test(text) || text.search(PARAMETER) >= 0;

/** The first parameters of a text, or its command. */
export const midjourneyPart = (text: string): string | undefined =>
  (COMMAND.exec(text) ?? [...text.matchAll(PARAMETER)][0])?.[0].trim();

/** The columns that cells become beside the text itself. */
export const MIDJOURNEY = {
  negative: 'negative_prompt',
  seed: 'seed',
  ratio: 'aspect_ratio',
  width: 'width',
  height: 'height',
  images: 'image_prompt',
  weights: 'weights',
  parameters: 'parameters',
} as const;

type MidjourneyCells = { readonly text: string; readonly cells: Readonly<Record<string, string>> };

/** The text without everything that a model would take for words, and its parameters by column. */
export function midjourneyCells(prompt: string): MidjourneyCells {
  const cells: Record<string, string> = {};
  const put = (column: string, value: string, joint: string): void => {
    cells[column] = cells[column] === undefined ? value : `${cells[column]}${joint}${value}`;
  };
  for (const [whole, name = '', argument = ''] of prompt.matchAll(PARAMETER)) {
    const value = argument.trim();
    const ratio = /^(?:ar|aspect)$/i.test(name) ? /^(\d+)\s*[:x/]\s*(\d+)$/.exec(value) : null;
    if (/^no$/i.test(name) && value !== '') put(MIDJOURNEY.negative, value, ', ');
    else if (/^seed$/i.test(name) && /^\d+$/.test(value)) cells[MIDJOURNEY.seed] = value;
    else if (ratio !== null) putRatio(cells, Number(ratio[1]), Number(ratio[2]));
    else put(MIDJOURNEY.parameters, whole.trim(), ' ');
  }
  const own = prompt.replaceAll(PARAMETER, '').replace(COMMAND, '').trim();
  const images = IMAGE.exec(`${own} `)?.[0].trim();
  if (images !== undefined) cells[MIDJOURNEY.images] = images;
  const words = images === undefined ? own : own.slice(images.length);
  const weights = words.match(WEIGHT)?.map((weight) => weight.trim());
  if (weights !== undefined) cells[MIDJOURNEY.weights] = weights.join(' ');
  const text = words
    .replaceAll(WEIGHT, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[,.;])/g, '')
    .trim();
  return { text, cells };
}

/** Pixels of a picture, which models make best. */
const PIXELS = 1024 * 1024;
const STEP = 64;

/** Puts the ratio, and a size of about one megapixel. */
function putRatio(cells: Record<string, string>, across: number, down: number): void {
  if (across === 0 || down === 0) return;
  const side = (ratio: number): string =>
    String(Math.max(STEP, Math.round(Math.sqrt(PIXELS * ratio) / STEP) * STEP));
  cells[MIDJOURNEY.ratio] = `${across}:${down}`;
  cells[MIDJOURNEY.width] = side(across / down);
  cells[MIDJOURNEY.height] = side(down / across);
}
