// Recognizes input names as people write them: with notes, units and marks, or by another well-known name.

import { MAX_NAME } from '../sheet-record.ts';
import { plainName } from './guess.ts';

const listed = (names: string): readonly string[] => names.split(', ');

/** Synonyms of a setting, the most common name first. */
const KNOWN = [
  'prompt, positive prompt, positive, caption, text, 提示词, 正面提示词, 正向提示词, 正面, プロンプト, 프롬프트',
  'negative_prompt, negative, neg prompt, neg, 负面, 负面提示词, 反向提示词, 负向提示词, ネガティブプロンプト, 부정 프롬프트, 네거티브 프롬프트',
  'seed, noise seed, random seed, startwert, graine, semilla, seme, semente, 种子, 随机种子, シード, 시드',
  'steps, num inference steps, inference steps, sampling steps, schritte, 步数',
  'cfg, cfg scale, guidance, guidance scale',
  'sampler, sampler name, sampling method',
  'scheduler, scheduler name',
  'width, image width, w, breite, largeur, 宽度, 宽, 너비, 幅',
  'height, image height, h, höhe, hauteur, 高度, 高, 높이, 高さ',
  'denoise, denoising strength',
  'model, checkpoint, ckpt, ckpt name, model name',
  'image, input image, image url, init image, photo, 图片, 图像, 画像, 이미지',
  'aspect_ratio, ratio, ar',
  'resolution, image size, output size',
  'fps, frame rate, frames per second',
  'length, frames, num frames, number of frames, frame count, video length',
  'batch_size, batch count, n iter, num images, number of images, num outputs, output count',
  'clip_skip, clip skip',
  'lora, loras, lora name',
].map(listed);

/** Synonyms of inputs that are data where a deployment has no such input: `Speaker` in a programme of talks. */
const ALSO_KNOWN = [
  'voice, voice name, speaker, speaker name, character, stimme, sprecher, sprecherin, voix, locuteur, personnage, voz, locutor, personaje, voce',
  'speed, speaking rate, tempo, geschwindigkeit, vitesse, débit, velocidad, velocità',
  'duration, dauer, durée, duración, duração, durata',
  'background, backdrop, hintergrund, arrière-plan, fond, fondo, sfondo',
].map(listed);

const SYNONYMS = [...KNOWN, ...ALSO_KNOWN];

const SETTINGS: ReadonlyMap<string, number> = new Map(
  SYNONYMS.flatMap((names, at) => names.map((name) => [plainName(name), at] as const)),
);
/** Settings that change the picture, so that a dropped column matters. Further settings may well be data. */
const TELLING: ReadonlySet<number> = new Set(
  listed(
    'negative, seed, steps, cfg, sampler, width, height, denoise, resolution, fps, batch_size, lora, clip_skip, model',
  ).map((name) => SETTINGS.get(plainName(name)) ?? -1),
);

/** Strips notes, units, marks and second genders: `Width (px)`, `Steps [1-150]`, `Prompt *`, `Sprecher*in`, `Locutor/a`. */
export const nameProper = (name: string): string =>
  plainName(
    withoutBrackets(name)
      .replaceAll(/[/*:]-?(?:in|a|e|ra|trice)$|[*:]/gi, ' ')
      .replaceAll(/\s+/g, ' '),
  );

/** Cells may be long if the row is not a header, and the pattern takes quadratic time. */
const withoutBrackets = (name: string): string =>
  name.slice(0, MAX_NAME).replaceAll(/\([^)]*\)|\[[^\]]*\]/g, ' ');

/** Whether the name is a well-known setting. */
export const isSetting = (name: string): boolean =>
  (SETTINGS.get(nameProper(name)) ?? KNOWN.length) < KNOWN.length;

/** Whether both names mean the same well-known setting. */
export function areOneSetting(column: string, input: string): boolean {
  const setting = SETTINGS.get(nameProper(column));
  return setting !== undefined && setting === SETTINGS.get(nameProper(input));
}

/** Whether the input is the setting, also as the field of a node: `5.width`. */
export const setsSetting = (input: string, setting: string): boolean =>
  areOneSetting(input, setting) || areOneSetting(input.slice(input.lastIndexOf('.') + 1), setting);

/** Settings whose values have digits. */
const NUMERIC: ReadonlySet<number> = new Set(
  listed('seed, steps, cfg, width, height, denoise, resolution, fps, length, batch_size, clip_skip').map(
    (name) => SETTINGS.get(plainName(name)) ?? -1,
  ),
);

/** Whether cells may be values of the setting that the column is called: those of `Resolution` may be `Fixed` in a list of bugs. */
export const hasItsValues = (column: string, values: readonly string[]): boolean =>
  !NUMERIC.has(SETTINGS.get(nameProper(column)) ?? -2) ||
  values.length === 0 ||
  values.some((text) => /\d/.test(text));

/** Whether the column is a setting that would change what a run makes. */
export const isTellingSetting = (column: string): boolean =>
  TELLING.has(SETTINGS.get(nameProper(column)) ?? -2) || nameProper(column) === 'aspectratio';

/** The words of a name, without notes in brackets. */
export const wordsOf = (name: string): readonly string[] =>
  withoutBrackets(name)
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Whether the column has all words of the input, and is no other well-known setting. */
export function containsWords(column: string, input: string): boolean {
  const words = wordsOf(column);
  return !SETTINGS.has(nameProper(column)) && wordsOf(input).every((word) => words.includes(word));
}

/** The number of shared words. */
export const sharedWords = (column: string, input: string): number =>
  wordsOf(input).filter((word) => wordsOf(column).includes(word)).length;

/** Last words of columns that name or measure a text: `prompt_id`, `Text name`, `prompt_length`. */
const ATTRIBUTE = /^(?:id|no|nr|hash|key|count|length|lang|language|path|file|filename|name|date|url)$/;

/** Whether the column names or measures what its other words say. */
export function namesAttribute(column: string): boolean {
  const words = wordsOf(column);
  return words.length > 1 && ATTRIBUTE.test(words.at(-1) ?? '');
}

/** The other names that differ only by a number: `prompt_2` and `prompt_3` of `prompt_1`. */
export function numberedLike(name: string, names: readonly string[]): readonly string[] {
  const unnumbered = (text: string): string => plainName(text).replaceAll(/\d+/g, '#');
  const isNumbered = /\d/.test(name);
  return names.filter((rival) => isNumbered && rival !== name && unnumbered(rival) === unnumbered(name));
}

/** Whether the column has all words of another name of the input, such as `guidance` of `cfg`. */
export const containsSynonym = (column: string, input: string): boolean =>
  synonymsOf(input).some((name) => name.length >= MIN_SYNONYM && containsWords(column, name));

/** Single letters occur in any name. */
const MIN_SYNONYM = 3;

const synonymsOf = (input: string): readonly string[] =>
  SYNONYMS[SETTINGS.get(nameProper(input)) ?? -1] ?? [];

/** Whether the word is a short one without its last letter, as no abbreviation is: `mode` and `model`. A plural is the same word. */
export const isOtherWord = (word: string, whole: string): boolean =>
  whole.length <= MAX_OTHER &&
  whole.startsWith(word) &&
  whole.length === word.length + 1 &&
  !whole.endsWith('s');

/** Length of words whose beginning may be another word. */
const MAX_OTHER = 5;

/** Letters that show which word an abbreviation stands for. */
const MIN_STEM = 3;

/** Whether each word of the column begins like one of the input or of its other names, or the other way around: `Neg. prompt`. */
export function beginsLike(column: string, input: string): boolean {
  const words = wordsOf(column);
  const isBegun = (word: string, whole: string): boolean =>
    Math.min(word.length, whole.length) >= MIN_STEM &&
    ((whole.startsWith(word) && !isOtherWord(word, whole)) || word.startsWith(whole));
  return [input, ...synonymsOf(input)].some(
    (name) =>
      words.length > 0 &&
      words.every((word) => wordsOf(name).some((whole) => isBegun(word, whole))) &&
      isBegun(words[0] ?? '', wordsOf(name)[0] ?? ''),
  );
}

/** Whether the input takes addresses as text, or seconds. */
export const takesAddresses = (input: string): boolean =>
  /^(?:ur[li]s?|link|path)$/.test(wordsOf(input).at(-1) ?? '');
/** Whether the input is called after a thing that has a title: `product_name`. */
export const takesTitle = (input: string): boolean =>
  wordsOf(input).some((word) => /^(?:names?|titles?|headline|label|subject|topic|product|item)$/.test(word));

/** Whether the input takes the name of one of many, and no text. */
export const takesName = (input: string): boolean =>
  /^(?:voice|speaker|model|checkpoint|ckpt|loras?|lang|language|sampler|scheduler|format)$/.test(
    wordsOf(input).at(-1) ?? '',
  );
export const takesDuration = (input: string): boolean =>
  wordsOf(input).some((word) => /^(?:duration|seconds?|secs?|length)$/.test(word));

/** Whether the column is called after a file: `Photo`, `Image link`. */
export const namesFile = (column: string): boolean =>
  wordsOf(column).some((word) =>
    /^(?:image|img|photo|picture|pic|video|audio|file|frame|mask)s?\d*$/.test(word),
  );

/** Whether the column says how the picture looks, which a prompt may need. */
export const isStyle = (column: string): boolean =>
  wordsOf(column).some((word) => /^(?:art)?st[iy]le?s?$/.test(word));

/** Column names for descriptions of the output. */
export const isDescriptive = (column: string): boolean =>
  wordsOf(column).some((word) =>
    /^(?:prompts?|descri\w*|caption|scene|text|body|beschreibung|texte?)$/.test(word),
  );

/** Whether a picture may be made of a text. A text that is spoken has no parameters. */
export const isDrawn = (inputs: readonly string[] | undefined): boolean =>
  inputs?.some((name) => /prompt|width|height|aspect|ratio|image/i.test(name)) ?? true;

/** Whether the texts may be spoken. */
export const isSpoken = (inputs: readonly string[] | undefined): boolean =>
  !isDrawn(inputs) || inputs?.some((name) => /voice|speaker/i.test(name)) === true;
