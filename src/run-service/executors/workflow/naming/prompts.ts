// Finds the texts that reach a sampler's positive and negative side: a workflow's prompt and negative prompt.

import {
  isDisplay,
  linkIn,
  rememberedFor,
  savesFiles,
  wordsOf,
  type GraphNode,
  type Link,
  type LiveGraph,
} from './graph.ts';
import { branchOf, linksOf, pathOf, placeOf, valueAt, type FieldPlace } from './values.ts';

export type Role = 'positive' | 'negative';

/** `why`: what keeps the places from being the prompt without a question. */
export type FoundTexts = {
  readonly places: readonly FieldPlace[];
  readonly why?: string;
  readonly isChoice?: boolean;
};

const SIDES: Readonly<Record<Role, ReadonlySet<string>>> = {
  positive: new Set(['positive', 'pos']),
  negative: new Set(['negative', 'neg', 'uncond']),
};
/** Fields that are named after a side but hold a setting. */
const NO_SIDE = /_(?:normalization|interpretation|mode|scale|weight)$|(?:^|_)use_|^style_|^has_/;
const GUIDES = /guid/i;
const SAMPLES = /sampler|guid/i;
const ENDS = /zero_? ?out/i;
const SCHEDULES = /schedule/i;
/** Matches a text that is keyed by frame numbers. */
const HAS_FRAMES = /^\s*"?\d+"?\s*:\s*["(]/;
/** Matches a placeholder in a text: `{{x}}`, `%x%`, and `__X__` in capitals, because `__x__` is a wildcard. */
export const PART =
  /\{\{\s*([\p{L}_][\p{L}\p{N}_-]*)\s*\}\}|%(\p{L}[\p{L}\p{N}_]+)%|__([A-Z][A-Z\d]*(?:_[A-Z\d]+)*)__/gu;

/** Whether a value is one placeholder and nothing else, so that the whole field is meant to be filled in. */
export const isPart = (value: unknown): value is string =>
  typeof value === 'string' && value.trim().match(PART)?.[0] === value.trim();

/** The name of a placeholder, however it is marked: `{{ Subject }}` and `%subject%` are one input. */
export const partName = (part: string): string =>
  part.replaceAll(/^(?:\{\{\s*|%|__)|(?:\s*\}\}|%|__)$/g, '').toLowerCase();

const TEXT =
  /^(?:text|prompt|string|value|(?:user|global|main|base|text|image|video)_prompt|prompt_text|(?:text|string)_[a-z\d]+|(?:text|string)\d|clip_[lgh]|t5xxl|llama|wildcard_text|populated_text|default_value)$/i;
const NO_TEXT = /system|instruction|template|delimiter|separator|(?:^|_)(?:old|new|0)$/i;
const ENCODES: ReadonlySet<string> = new Set(['clip', 't5', 'text_encoder']);
/** Links that carry no text. */
const NO_TEXT_LINK =
  /^(?:model|clip|vae|unet|control_?net|t5|text_encoder|upscale_model|ipadapter|insightface|lora_stack|noise|sigmas|sampler|guider|latent|latent_image|samples|audio|video|select|selector|index|switch|boolean|width|height|size|seed)(?:_.*|\d*)$|image|pixels|mask|picture|frame|vision/i;
const SEES = /^(?:images?|pixels|video|frames|picture)(?:_?\d+)?$/i;
const CARRIES_TEXT: ReadonlySet<string> = new Set(['CONDITIONING', 'STRING', '*', 'PIPE', 'PIPE_LINE']);

function roleOf(field: string): Role | undefined {
  if (NO_SIDE.test(field)) return undefined;
  const words = wordsOf(field);
  if (words.some((word) => SIDES.negative.has(word))) return 'negative';
  return words.some((word) => SIDES.positive.has(word)) ? 'positive' : undefined;
}

const seesPicture = ({ inputs }: GraphNode): boolean =>
  Object.keys(inputs).some((field) => SEES.test(field) && linkIn(inputs[field]) !== undefined);

/** The roles in which a walk starts at a field of a live node. */
function startsOf({ class_type: name }: GraphNode, field: string): readonly Role[] {
  if (savesFiles(name)) return [];
  const role = roleOf(field);
  if (role !== undefined) return [role];
  if (field === 'conditioning' && SAMPLES.test(name)) return ['positive'];
  if (field === 'cond1' && GUIDES.test(name)) return ['positive'];
  return field === 'text_embeds' || /pipe/i.test(field) ? ['positive', 'negative'] : [];
}

class Walk {
  readonly #graph: LiveGraph;
  readonly #role: Role;
  readonly #seen = new Set<string>();
  readonly #open: { readonly link: Link; readonly role: Role }[] = [];
  readonly places = new Map<string, FieldPlace>();
  /** The reason for a question, and whether no answer can be proposed. */
  why: string | undefined;

  constructor(graph: LiveGraph, role: Role) {
    this.#graph = graph;
    this.#role = role;
  }

  /** Follows links in a loop, because a chain of nodes may be longer than the call stack allows. */
  follow(from: Link): void {
    this.#open.push({ link: from, role: this.#role });
    // Links that are added meanwhile come last. Removing the first one would move all others.
    for (const { link, role } of this.#open) this.#visit(link, role);
    this.#open.length = 0;
  }

  #visit({ node, slot }: Link, role: Role): void {
    const at = this.#graph.nodes[node];
    if (at === undefined || ENDS.test(at.class_type) || this.#seen.has(`${node} ${role}`)) return;
    this.#seen.add(`${node} ${role}`);
    const output = this.#graph.classOf(node)?.outputs?.[slot]?.name;
    const side = (output === undefined ? undefined : roleOf(output)) ?? role;
    const sided = Object.keys(at.inputs).filter(
      (field) => roleOf(field) !== undefined && this.#mayHold(at, field),
    );
    if (sided.length > 0) {
      for (const field of sided.filter((name) => roleOf(name) === side)) this.#take(node, field, side);
      return;
    }
    const isShown = isDisplay(at);
    const texts = Object.keys(at.inputs).filter(
      (field) =>
        TEXT.test(field) &&
        (!NO_TEXT.test(field) || field === 'text_0') &&
        (linkIn(at.inputs[field]) !== undefined || (typeof at.inputs[field] === 'string' && !isShown)),
    );
    const isEncoder = Object.keys(at.inputs).some((field) => ENCODES.has(field));
    const isQuestion = seesPicture(at) && !isEncoder;
    if (texts.length > 0) this.#judge(at, isQuestion);
    // An empty text beside a model that sees a picture is no prompt, so nothing is asked about it.
    for (const field of texts) if (!isQuestion || at.inputs[field] !== '') this.#take(node, field, side);
    if (texts.length > 0 || isEncoder) return;
    const branch = branchOf(this.#graph, node);
    if (branch !== undefined) return void this.#open.push({ link: branch, role: side });
    for (const [field, link] of linksOf(at))
      if (this.#carriesText(field, link)) this.#open.push({ link, role: side });
  }

  /** A field named after a side holds a text or a link; numbers and flags beside it are settings. */
  #mayHold({ inputs }: GraphNode, field: string): boolean {
    return typeof inputs[field] === 'string' || linkIn(inputs[field]) !== undefined;
  }

  #judge(node: GraphNode, isQuestion: boolean): void {
    if (SCHEDULES.test(node.class_type)) this.why ??= 'it is a schedule of texts';
    if (isQuestion) this.why ??= 'a model that sees a picture writes the text';
  }

  #take(node: string, field: string, role: Role): void {
    const value = this.#graph.nodes[node]?.inputs[field];
    const link = linkIn(value);
    if (link !== undefined) return void this.#open.push({ link, role });
    if (typeof value !== 'string') return;
    const place = { node, field };
    this.places.set(pathOf(place), place);
  }

  #carriesText(field: string, { node: source, slot }: Link): boolean {
    const type = this.#graph.classOf(source)?.outputs?.[slot]?.type;
    if (type !== undefined) return CARRIES_TEXT.has(type);
    return !NO_TEXT_LINK.test(field) && !/system/i.test(field);
  }
}

/** The texts of both sides. */
export function promptsOf(graph: LiveGraph): Readonly<Record<Role, FoundTexts | undefined>> {
  const walks = { positive: new Walk(graph, 'positive'), negative: new Walk(graph, 'negative') };
  for (const node of graph.live) {
    const at = graph.nodes[node] as GraphNode;
    for (const [field, link] of linksOf(at)) for (const role of startsOf(at, field)) walks[role].follow(link);
  }
  for (const path of walks.positive.places.keys()) walks.negative.places.delete(path);
  const isCrossed = [...graph.live].some((node) => isWiredCrosswise(graph, node));
  const sides = {
    positive: withoutEmpty(graph, textsOf(graph, walks.positive)),
    negative: textsOf(graph, walks.negative),
  };
  const crossed = (texts: FoundTexts | undefined): FoundTexts | undefined =>
    texts && { ...texts, why: 'both sides are wired crosswise', isChoice: true };
  if (isCrossed) return { positive: crossed(sides.positive), negative: crossed(sides.negative) };
  if (sides.positive !== undefined || sides.negative !== undefined) return sides;
  return { positive: onlyField(graph, 'positive'), negative: onlyField(graph, 'negative') };
}

/** Whether a node takes its positive side from a later output than its negative, of a node that has both sides. */
function isWiredCrosswise(graph: LiveGraph, node: string): boolean {
  const { positive, negative } = Object.fromEntries(
    linksOf(graph.nodes[node] as GraphNode).flatMap(([field, link]) => {
      const role = roleOf(field);
      return role === undefined ? [] : [[role, link] as const];
    }),
  ) as Partial<Record<Role, Link>>;
  if (positive === undefined || positive.node !== negative?.node || positive.slot <= negative.slot)
    return false;
  const source = graph.nodes[positive.node];
  return source !== undefined && hasBothSides(source);
}

const hasBothSides = rememberedFor(({ inputs }: GraphNode): boolean => {
  const sides = new Set(Object.keys(inputs).map(roleOf));
  return sides.has('positive') && sides.has('negative');
});

/** A prompt that is empty in several nodes, or beside another field of its name that has a text (such as a detector's), is ambiguous. */
function withoutEmpty(graph: LiveGraph, texts: FoundTexts | undefined): FoundTexts | undefined {
  if (texts === undefined || texts.why !== undefined) return texts;
  if (texts.places.some((place) => valueAt(graph, place) !== '')) return texts;
  const filled = [...graph.live].flatMap((node) =>
    [...PROMPT_FIELDS].flatMap((field) => {
      const place = isDisplay(graph.nodes[node] as GraphNode) ? undefined : placeOf(graph, node, field);
      const text = place && valueAt(graph, place);
      return place !== undefined && typeof text === 'string' && text !== '' ? [place] : [];
    }),
  );
  const isOneNode = new Set(texts.places.map(({ node }) => node)).size === 1;
  if (isOneNode && filled.length === 0) return texts;
  return { places: [...texts.places, ...filled], why: 'several fields may hold it', isChoice: true };
}
const PROMPT_FIELDS: ReadonlySet<string> = new Set(['prompt', 'text_prompt']);

function textsOf(graph: LiveGraph, { places, why }: Walk): FoundTexts | undefined {
  const textPlaces = [...places.values()];
  const filled = textPlaces.filter((place) => valueAt(graph, place) !== '');
  const kept = filled.length > 0 ? filled : textPlaces;
  if (kept.length === 0) return undefined;
  const texts = new Set(kept.map((place) => valueAt(graph, place) as string));
  if (texts.size > 1) return { places: kept, why: 'several texts differ', isChoice: true };
  const [text = ''] = texts;
  if (text.match(PART) !== null && text.replaceAll(PART, '').trim() !== '')
    return { places: kept, why: 'parts of the text are inputs' };
  if (HAS_FRAMES.test(text)) return { places: kept, why: 'it is a schedule of texts' };
  return { places: kept, ...(why !== undefined && { why }) };
}

/** The only field of a live node with this name, where no sampler has sides. */
function onlyField(graph: LiveGraph, role: Role): FoundTexts | undefined {
  const names =
    role === 'positive'
      ? ['prompt', 'positive_prompt', 'text_positive', 'positive']
      : ['negative_prompt', 'text_negative', 'negative'];
  const places = [...graph.live].flatMap((node) =>
    (savesFiles(graph.nodes[node]?.class_type ?? '') ? [] : names)
      .filter((field) => typeof graph.nodes[node]?.inputs[field] === 'string')
      .map((field) => ({ node, field })),
  );
  return places.length === 1 ? { places } : undefined;
}
