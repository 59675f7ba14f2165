// Decides whether an SVG is safe to open. As an image in the report it cannot run scripts; opened directly in a
// browser it can. So only listed elements, attributes and addresses are allowed, and anything that this parser does
// not understand makes the SVG active.

/** The harmless elements. `use` is missing: it can multiply a few elements into more than a browser can draw. */
const ELEMENTS: ReadonlySet<string> = new Set(
  (
    'svg g path rect circle ellipse line polyline polygon text tspan textPath defs title desc metadata marker clipPath ' +
    'mask pattern linearGradient radialGradient stop image style'
  ).split(' '),
);

const PROLOG = /^\uFEFF?\s*(<\?xml\s[^<>?]*\?>)?/;
const ENCODING = /\sencoding\s*=\s*["'](?!utf-8["'])/i;
const COMMENT = /<!--(?:(?!--)[^])*-->/g;
/** A DOCTYPE without an internal subset, which could define entities. */
const DOCTYPE = /<!DOCTYPE\s+svg(?:\s+PUBLIC\s+"[^"<>[]*"\s+"[^"<>[]*")?\s*>/;
const TAG = /<(\/?)([A-Za-z]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*\/?>/g;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/** Character references and entities could hide a word from this parser. */
const HIDDEN = /&(?!(?:amp|lt|gt|quot|apos);)/;

const SVG = 'http://www.w3.org/2000/svg';
const OF_OTHER_SPACES = /^(xmlns:[\w.-]+|xml:space|xml:lang|xlink:title)$/;
const OWN_PART = /^#[\w.-]+$/;
const OWN_PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=\s]*$/;
const LEADS_OUT = /url\s*\((?!\s*['"]?#)|image-set|src\s*\(|expression|javascript|@import|@font-face/i;

export function isPassiveSvg(bytes: Uint8Array): boolean {
  const text = textOf(bytes);
  if (text === undefined || HIDDEN.test(text) || LEADS_OUT.test(text) || text.includes('\\')) return false;
  const [prolog = ''] = PROLOG.exec(text) ?? [];
  if (ENCODING.test(prolog)) return false;
  const markup = text.slice(prolog.length).replaceAll(COMMENT, '').replace(DOCTYPE, '').trim();
  if (!/^<svg[\s>]/.test(markup)) return false;
  const tags = [...markup.matchAll(TAG)];
  return (
    !markup.replaceAll(TAG, '').includes('<') &&
    tags.every(([, , name = '', attributes = '']) => ELEMENTS.has(name) && areHarmless(attributes))
  );
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

const areHarmless = (attributes: string): boolean =>
  [...attributes.matchAll(ATTRIBUTE)].every(([, name = '', quoted, apostrophed]) =>
    isHarmless(name, (quoted ?? apostrophed ?? '').trim()),
  );

function isHarmless(name: string, value: string): boolean {
  if (name === 'xmlns') return value === SVG;
  if (name === 'href' || name === 'xlink:href') return OWN_PART.test(value) || OWN_PICTURE.test(value);
  return name.includes(':') ? OF_OTHER_SPACES.test(name) : !/^on/i.test(name);
}
