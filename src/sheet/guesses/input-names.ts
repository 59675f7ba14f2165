// What people call an input: with notes, units and marks around its name, or by another of its well-known names.

import { MOST_NAME } from '../sheet-record.ts';
import { plainName } from './guess.ts';

/** Other names of a setting; the first one is what most deployments call it. */
const KNOWN: readonly (readonly string[])[] = [
  [
    'prompt',
    'positive prompt',
    'positive',
    'caption',
    'text',
    '提示词',
    '正面提示词',
    '正向提示词',
    '正面',
    'プロンプト',
    '프롬프트',
  ],
  [
    'negative_prompt',
    'negative',
    'neg prompt',
    'neg',
    '负面',
    '负面提示词',
    '反向提示词',
    '负向提示词',
    'ネガティブプロンプト',
    '부정 프롬프트',
    '네거티브 프롬프트',
  ],
  ['seed', 'noise seed', 'random seed', '种子', '随机种子', 'シード', '시드'],
  ['steps', 'num inference steps', 'inference steps', 'sampling steps', 'schritte', '步数'],
  ['cfg', 'cfg scale', 'guidance', 'guidance scale'],
  ['sampler', 'sampler name', 'sampling method'],
  ['scheduler', 'scheduler name'],
  ['width', 'image width', 'w', 'breite', 'largeur', '宽度', '宽', '너비', '幅'],
  ['height', 'image height', 'h', 'höhe', 'hauteur', '高度', '高', '높이', '高さ'],
  ['denoise', 'denoising strength'],
  ['model', 'checkpoint', 'ckpt', 'ckpt name', 'model name'],
  ['image', 'input image', 'image url', 'init image', 'photo', '图片', '图像', '画像', '이미지'],
  ['aspect_ratio', 'ratio', 'ar'],
  ['resolution', 'image size', 'output size'],
  ['fps', 'frame rate', 'frames per second'],
  ['length', 'frames', 'num frames', 'number of frames', 'frame count', 'video length'],
  ['batch_size', 'batch count', 'n iter', 'num images', 'number of images', 'num outputs', 'output count'],
  ['clip_skip', 'clip skip'],
  ['lora', 'loras', 'lora name'],
];

const SETTINGS: ReadonlyMap<string, number> = new Map(
  KNOWN.flatMap((names, at) => names.map((name) => [plainName(name), at] as const)),
);
/** Settings that make another picture, so that leaving one out is no detail. Others may well be data. */
const TELLING: ReadonlySet<number> = new Set(
  [
    'negative',
    'seed',
    'steps',
    'cfg',
    'sampler',
    'width',
    'height',
    'denoise',
    'resolution',
    'fps',
    'batch_size',
    'lora',
    'clip_skip',
  ].map((name) => SETTINGS.get(plainName(name)) ?? -1),
);

/** `Seed (leave empty for random)`, `Width (px)`, `Steps [1-150]` and `Prompt *` without what is no name. */
export const nameProper = (name: string): string =>
  plainName(withoutBrackets(name).replaceAll(/[*:]/g, ' ').replaceAll(/\s+/g, ' '));

/** A row that is no header has texts of any length, and the pattern needs the square of it. */
const withoutBrackets = (name: string): string =>
  name.slice(0, MOST_NAME).replaceAll(/\([^)]*\)|\[[^\]]*\]/g, ' ');

/** Whether it is a name of a well-known setting. */
export const isSetting = (name: string): boolean => SETTINGS.has(nameProper(name));

/** Whether both are names of one well-known setting. */
export function areOneSetting(column: string, input: string): boolean {
  const setting = SETTINGS.get(nameProper(column));
  return setting !== undefined && setting === SETTINGS.get(nameProper(input));
}

/** Whether the column is a setting that would change what a run makes. */
export const isTellingSetting = (column: string): boolean =>
  TELLING.has(SETTINGS.get(nameProper(column)) ?? -2) || nameProper(column) === 'aspectratio';

const wordsOf = (name: string): readonly string[] =>
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

/** The words that both have. */
export const sharedWords = (column: string, input: string): number =>
  wordsOf(input).filter((word) => wordsOf(column).includes(word)).length;

/** Words of columns whose texts describe what shall be made. */
export const isDescriptive = (column: string): boolean =>
  wordsOf(column).some((word) =>
    /^(?:prompts?|descri\w*|caption|scene|text|body|beschreibung|texte?)$/.test(word),
  );
