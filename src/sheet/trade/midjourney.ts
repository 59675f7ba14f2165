// Prompts as Midjourney takes them: `/imagine prompt: https://…/fox.png a fox::2 --ar 16:9 --no people`. A model would take the
// parameters for words. Source: https://docs.midjourney.com/hc/en-us/articles/32859204029709-Parameter-List.

/** Values by parameter. The text after a value is a part of the prompt. */
const VALUES: readonly (readonly [names: string, value: string])[] = [
  ['ar|aspect', String.raw`\s+\d+(?:\.\d+)?\s*[:x/]\s*\d+(?:\.\d+)?`],
  [
    'c|chaos|cw|exp|iw|niji|ow|q|quality|r|repeat|s|seed|stop|stylize|sv|sw|v|version|w|weird',
    String.raw`\s+(?:\d+(?:[.,]\d+)*|random)(?![\w-])`,
  ],
  ['style', String.raw`\s+[\w-]+`],
  ['cref|oref|sref', String.raw`(?:\s+(?:https?://\S+|\d+|random)(?:::\d+(?:\.\d+)?)?)+`],
  ['p|personalize|profile', String.raw`(?:\s+[a-z]*\d\w*)+`],
  ['draft|fast|hd|raw|relax|tile|turbo|uplight|video', ''],
];

/** The signs before a name. Phones write -- as a dash, which prose has too, but not before a name with a number. */
const SIGNS = String.raw`(?:--|[—–](?=(?:ar|aspect|chaos|iw|niji|s|seed|stylize|v)\s+\d))`;

/** Unwanted words go on to the next parameter. Two hyphens that close what others opened are dashes of prose. */
const UNWANTED = String.raw`no(?![\w-])(?![^]*\S--(?:\s|$))(?:(?!\s${SIGNS}[a-z])[^])*`;

const PARAMETER = new RegExp(
  String.raw`(?:^|\s)${SIGNS}(?:${UNWANTED}|${VALUES.map(([names, value]) => String.raw`(?:${names})(?![\w-])(?:${value})?`).join('|')})`,
  'gi',
);

type Parameter = { readonly name: string; readonly value: string; readonly text: string };

const parametersIn = (prompt: string): readonly Parameter[] =>
  [...prompt.matchAll(PARAMETER)].map(({ 0: match }) => {
    const text = match.trim();
    const [, name = '', value = ''] = /^(?:--|[—–])([a-z]+)([^]*)$/i.exec(text) ?? [];
    return { name: name.toLowerCase(), value: value.trim(), text };
  });

const COMMAND = /^\s*\/imagine\b\s*(?:prompt\s*:)?\s*/i;
/** Whether the line is a command of a chat with Midjourney. */
export const isCommand = (line: string): boolean => COMMAND.test(line);
const IMAGE = /^(?:<?https?:\/\/\S+>?\s+)+/i;
const WEIGHT = /::\s*-?(?:\d+(?:\.\d+)?)?/g;

/** Parameters that no other program has, if they have a value. */
const OWN = /^(?:ar|aspect|cref|niji|oref|sref|stylize)$/;
/** Parameters with a number, which count at the end of a text. */
const SHARED = /^(?:c|chaos|iw|q|quality|s|seed|v|w|weird)$/;

/** Whether parameters follow words, and nothing follows them. */
export function endsWithParameters(text: string): boolean {
  if (!isMidjourney(text)) return false;
  const [before = '', ...behind] = text.replace(COMMAND, '').replaceAll(PARAMETER, '\0').split('\0');
  return before.trim() !== '' && /^[\s,.;]*$/.test(behind.at(-1) ?? '-');
}

/** Whether the text has the command or a parameter with a value. Unwanted words alone may be prose: "--no one was there". */
export function isMidjourney(text: string): boolean {
  if (COMMAND.test(text)) return true;
  if (!/--|[—–]/.test(text)) return false;
  const parameters = parametersIn(text);
  if (parameters.some(({ name, value }) => value !== '' && OWN.test(name))) return true;
  const [before = '', ...behind] = text.replaceAll(PARAMETER, '\0').split('\0');
  const isAtEnd = before.trim() !== '' && behind.every((part) => /^[\s,.;]*$/.test(part));
  return isAtEnd && parameters.some(({ name, value }) => /\d/.test(value) && SHARED.test(name));
}

/** Short unwanted words without the end of a sentence. */
const UNWANTED_ALONE = /\s--no\s+(?:[^\s.!?]+\s*){1,6}$/i;

/** The first parameters of a text, or its command. */
export function midjourneyPart(text: string): string | undefined {
  if (!isMidjourney(text)) return UNWANTED_ALONE.exec(text)?.[0].trim();
  return COMMAND.exec(text)?.[0].trim() ?? parametersIn(text)[0]?.text;
}

/** Braces from which Midjourney makes several prompts. */
export const permutationIn = (text: string): string | undefined => /\{[^{}]*,[^{}]*\}/.exec(text)?.[0];

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
  for (const { name, value, text } of parametersIn(prompt)) {
    const ratio = /^(?:ar|aspect)$/.test(name) ? /^(\d+)\s*[:x/]\s*(\d+)$/.exec(value) : null;
    if (name === 'no' && value !== '') put(MIDJOURNEY.negative, value, ', ');
    else if (name === 'seed' && /^\d+$/.test(value)) cells[MIDJOURNEY.seed] = value;
    else if (ratio !== null) putRatio(cells, Number(ratio[1]), Number(ratio[2]));
    else put(MIDJOURNEY.parameters, text, ' ');
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

/** The width and the height of a picture of about one megapixel. */
export function sizeOfRatio(across: number, down: number): readonly [width: string, height: string] {
  const side = (ratio: number): string =>
    String(Math.max(STEP, Math.round(Math.sqrt(PIXELS * ratio) / STEP) * STEP));
  return [side(across / down), side(down / across)];
}

function putRatio(cells: Record<string, string>, across: number, down: number): void {
  if (across === 0 || down === 0) return;
  cells[MIDJOURNEY.ratio] = `${across}:${down}`;
  [cells[MIDJOURNEY.width], cells[MIDJOURNEY.height]] = sizeOfRatio(across, down);
}
