// Tells whether a text looks like a language: bytes that are read in a wrong encoding give words that none has.

/** Judges a reading: the share of its words, or of its wide characters, that look right, up to 1. */
export type Fit = (text: string) => number;

const BEYOND_ASCII = /[\u0080-\uffff]/;
const WORD = /[\p{L}\p{M}'’ʼ]+/gu;
const CASED = /^(?:\P{Lu}*|\p{Lu}\P{Lu}*|\p{Lu}+|\p{L}+['’ʼ]\p{Lu}?\P{Lu}*)$/u;

/** Letters with a sign between them that is no punctuation, as in `¿ó³ty`, `ksi¹¿ka` and `noc¹`. */
const GLUED =
  /\p{L}[^\p{L}\p{M}\s\p{ASCII}’‘ʼ–—…·ªº“”«»„]+(?=\p{L})|\p{L}{3}[¹³]|(?<!\p{L})[²³¹¼½¾£¥¯]+(?=\p{Ll})/gu;

const wordsIn = (text: string): readonly string[] =>
  (text.match(WORD) ?? []).filter((word) => BEYOND_ASCII.test(word.replaceAll(/[’ʼ]/g, '')));

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** The letters beyond ASCII of a language. `never`: what none of its words has. */
type Alphabet = { readonly letters: string; readonly never?: RegExp };

/** German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish and Norwegian, Icelandic, Catalan. */
const WESTERN: readonly Alphabet[] = [
  { letters: 'äöüßéàè' },
  { letters: 'àâæçéèêëîïôûùüÿœ', never: /œ(?![a-zéè])/u },
  { letters: 'áéíóúüñç', never: /ñ(?![aeiouáéíóúü])/u },
  { letters: 'àèéìíîòóùú', never: /[ìòù](?=\p{L}{3})/u },
  { letters: 'áâãàçéêíóôõúü', never: /õ(?!e)|ã(?![eo]|$|s$)/u },
  { letters: 'áéíóúëïöüàè' },
  { letters: 'åäöéü' },
  { letters: 'åæøéóèêòô' },
  { letters: 'áéíóúýþæöð' },
  { letters: 'àçéèíïóòúü' },
];

/** Polish, Czech and Slovak, Hungarian, Romanian, Croatian and Slovene. */
const CENTRAL: readonly Alphabet[] = [
  { letters: 'ąćęłńóśźż', never: /ń[aeiouyąęó]|^[ńęłś]$/u },
  {
    letters: 'áčďéěíňóřšťúůýžäĺľôŕö',
    never: /[aeiouyáéíóú][ĺŕ]|[ĺŕ](?:[aeiouyáéíóúě]|$)|^[čďěňřťůž]$|[aeiouyáéíóúě]ů/u,
  },
  { letters: 'áéíóöőúüű' },
  { letters: 'ăâîşţ', never: /ă[oe]/u },
  { letters: 'čćžšđ', never: /^[čćžđ]$/u },
];

const TURKISH: readonly Alphabet[] = [{ letters: 'çğıöşüâîû' }];

/** Words have plain letters too, except for short ones such as `à`. */
const isWordOf = ({ letters, never }: Alphabet, word: string): boolean =>
  CASED.test(word) &&
  (/[a-z]/i.test(word) || word.length <= 2) &&
  Array.from(word.toLowerCase()).every(
    (letter) => !BEYOND_ASCII.test(letter) || `${letters}’ʼ`.includes(letter),
  ) &&
  never?.test(word.toLowerCase()) !== true;

/** `isOne`: all words are of one language; otherwise each may be of another one. */
const latin =
  (alphabets: readonly Alphabet[], isOne: boolean): Fit =>
  (text) => {
    const words = wordsIn(text);
    const glued = countOf(text, GLUED);
    if (words.length === 0) return glued === 0 ? 1 : 0;
    const rightIn = (some: readonly Alphabet[]): number =>
      words.filter((word) => some.some((alphabet) => isWordOf(alphabet, word))).length;
    const right = isOne ? Math.max(...alphabets.map((alphabet) => rightIn([alphabet]))) : rightIn(alphabets);
    return (right - glued) / words.length;
  };

/** Signs beside letters, and the lines and blocks that KOI8 has instead of letters. */
const STRAY = /(?<=\p{L})[¡-¿]|[¡-¿](?=\p{L})|[\u2500-\u25ff]/gu;

const script =
  (spelling: RegExp): Fit =>
  (text) => {
    const words = wordsIn(text);
    const long = words.filter((word) => word.length > 1).length;
    if (long * 2 < words.length || words.length === 0) return 0;
    const right = words.filter((word) => spelling.test(word) && CASED.test(word)).length;
    return (right - countOf(text, GLUED) - countOf(text, STRAY)) / words.length;
  };

const WIDE_SIGN = /[\u3000-\u303f\uff01-\uff5e“”‘’…—·]/;

/** A lone wide letter beside a small Latin one: a letter such as `ö`, read together with the letter after it. */
const LONE = /(?<=[a-z])[\u2e80-\ufeff](?![\u2e80-\uffff])|(?<![\u2e80-\uffff])[\u2e80-\ufeff](?=[a-z])/g;

const wide =
  (sign: RegExp): Fit =>
  (text) => {
    const beyond = Array.from(text).filter((letter) => BEYOND_ASCII.test(letter));
    if (beyond.length === 0) return 0;
    const right = beyond.filter((letter) => sign.test(letter) || WIDE_SIGN.test(letter)).length;
    return (right - 2 * countOf(text, LONE)) / beyond.length;
  };

const JAPANESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
const HALF_WIDTH = /[\uff61-\uff9f]/g;

/** Every high byte is a narrow kana, so these count only among others. */
const japanese: Fit = (text) =>
  countOf(text, HALF_WIDTH) * 2 > countOf(text, /[\u3040-\u9fff]/g) ? 0 : wide(JAPANESE)(text);

export const FITS = {
  western: latin(WESTERN, true),
  anyWestern: latin(WESTERN, false),
  central: latin(CENTRAL, true),
  anyCentral: latin(CENTRAL, false),
  turkish: latin(TURKISH, true),
  cyrillic: script(/^(?:(?![Ѕѕ])\p{Script=Cyrillic}|['’ʼ])+$/u),
  greek: script(/^(?:(?!ΰ)\p{Script=Greek})+$/u),
  hebrew: script(/^[\u05d0-\u05ea]+$/u),
  arabic: script(/^\p{Script=Arabic}+$/u),
  chinese: wide(/\p{Script=Han}/u),
  korean: wide(/\p{Script=Hangul}/u),
  japanese,
} satisfies Readonly<Record<string, Fit>>;

/** Whether only signs are beyond ASCII, as in an English text with curly quotes. */
export const hasPlainWords = (text: string): boolean => wordsIn(text).length === 0;
