// The inputs of a workflow under the names that its owner would use, found in the graph: a pure function of the graph and of what
// a server tells of its node classes. A name that is certain fills its places; one with several readings is asked about; any
// other field is reached as NODE.FIELD.

import { distinct, settingsOf, type FoundInput } from './fields.ts';
import { filesOf, isFiles } from './files.ts';
import { isDisplay, isLiteral, LiveGraph, savesFiles, type GraphNodes, type KnownClasses } from './live.ts';
import { PART, partName, promptsOf } from './prompts.ts';
import { titlesOf, type Title } from './titles.ts';
import { pathOf, pathsOf, valueAt, type Place } from './values.ts';

type NamedInput = {
  readonly name: string;
  readonly places: readonly Place[];
  /** Other names of the same places: titles. */
  readonly also: readonly string[];
  /** The part of the text that is filled in, such as `{{subject}}`. */
  readonly part?: string;
};

/** A name that may mean several things: asked about if a sheet has a column for it. */
type OpenName = FoundInput & { readonly why: string };

export type Names = {
  readonly named: readonly NamedInput[];
  readonly open: readonly OpenName[];
  /** Fields that only one live node has under their last word: a column of this name is asked about. */
  readonly single: readonly { readonly name: string; readonly place: Place }[];
};

/** Fields that are widgets of the browser, or whose value this service chooses. */
const NEVER =
  /^(?:filename_prefix|upload|choose .* to upload|audioUI|control_after_generate|speak_and_recognation|_widgets_values|device|type|mode|weight_dtype|input_id)$|comparer|header/i;

/** Fields whose `%x%` ComfyUI or a node fills in. */
const NAMES_FILES = /file|path|folder|prefix|format|date|time/i;

/** Returns whether a field may be filled in at all. */
export const isFillable = (value: unknown, field: string): boolean => isLiteral(value) && !NEVER.test(field);

export function namesOf(nodes: GraphNodes, classes: KnownClasses): Names {
  const graph = new LiveGraph(nodes, classes);
  const inputs = [...ofPrompts(graph), ...settingsOf(graph), ...filesOf(graph)];
  const parts = partsOf(graph);
  const titled = withTitles(graph, inputs);
  const settled = withoutConflicts(titled);
  const named = [...settled.named, ...parts];
  const taken = new Set([...named, ...settled.open].flatMap(({ places }) => places.map(pathOf)));
  return {
    named,
    open: settled.open,
    single: singlesOf(graph, taken, new Set([...named, ...settled.open].map(({ name }) => name))),
  };
}

function ofPrompts(graph: LiveGraph): readonly FoundInput[] {
  const { positive, negative } = promptsOf(graph);
  const texts = [
    ...(positive === undefined ? [] : [{ name: 'prompt', ...positive }]),
    ...(negative === undefined ? [] : [{ name: 'negative_prompt', ...negative }]),
  ];
  if (texts.length > 0) return texts;
  const places = [...graph.live]
    .filter((node) => !shows(graph, node))
    .map((node) => ({ node, field: 'text' }))
    .filter((place) => typeof valueAt(graph, place) === 'string');
  return places.length === 1 ? [{ name: 'text', places }] : [];
}

const shows = ({ nodes }: LiveGraph, id: string): boolean => {
  const node = nodes[id];
  return node !== undefined && isDisplay(node);
};

/** Whether a field keeps what was, or notes a setting in a file that is saved. */
const isNoted = (graph: LiveGraph, node: string, field: string): boolean =>
  shows(graph, node) || (NOTES.test(field) && savesFiles(graph.nodes[node]?.class_type ?? ''));
const NOTES =
  /^(?:width|height|seed\w*|steps|cfg|denoise|clip_skip|sampler_name|scheduler\w*|modelname|positive|negative)$/;

/** `{{x}}` in a live text is an input of its own; a text that is one part is that field. */
function partsOf(graph: LiveGraph): readonly NamedInput[] {
  const parts = [...graph.live].flatMap((node) =>
    Object.entries(graph.nodes[node]?.inputs ?? {}).flatMap(([field, value]) => {
      if (typeof value !== 'string' || NEVER.test(field) || NAMES_FILES.test(field)) return [];
      if (shows(graph, node)) return [];
      return [...value.matchAll(PART)]
        .filter(([part]) => part !== value.trim())
        .map(([part]) => ({ name: partName(part), place: { node, field }, part }));
    }),
  );
  return [...Map.groupBy(parts, ({ name }) => name)].map(([name, all]) => ({
    name,
    places: distinct(all.map(({ place }) => place)),
    also: [],
    part: all[0]?.part as string,
  }));
}

type Draft = { found: FoundInput; also: string[] };

/** Titles name what has no name, are aliases of what has one, and win where they mean another input. */
function withTitles(graph: LiveGraph, found: readonly FoundInput[]): readonly Draft[] {
  let drafts: Draft[] = found.map((input) => ({ found: input, also: [] }));
  const titles = titlesOf(graph);
  /** Paths that titles have named. */
  const titled = new Set<string>();
  for (const { name, places, isExplicit } of titles) {
    const owner = drafts.find(
      (draft) => draft.found.why === undefined && hasSamePlaces(draft.found.places, places),
    );
    if (!isExplicit && isPrompt(name)) disagree(drafts, name, places);
    else if (owner !== undefined) {
      // What the graph calls so keeps its address only.
      drafts = drafts.filter((draft) => draft === owner || draft.found.name !== name);
      owner.also.push(name);
    } else {
      for (const place of places) titled.add(pathOf(place));
      const isOver = ({ found: input }: Draft): boolean =>
        input.name === name || (isExplicit && input.why === undefined && within(input.places, places));
      drafts = [...drafts.filter((draft) => !isOver(draft)), { found: { name, places }, also: [] }];
    }
  }
  // Of several pictures that all have titles, none is left to ask about.
  const left = drafts.filter(
    ({ found: { why, name, places } }) =>
      why === undefined || !isFiles(name) || !places.every((place) => titled.has(pathOf(place))),
  );
  return [...left, ...withShortNames(left, titles)];
}

/**
 * `First frame (16:9)` of the only picture is `first frame`, too. `Length (seconds)` of a number that only its title names may be what
 * a column `length` means, and is asked about.
 */
function withShortNames(drafts: readonly Draft[], titles: readonly Title[]): readonly Draft[] {
  const names = new Set(drafts.map(({ found: { name } }) => name));
  return [...Map.groupBy(titles, ({ short }) => short)].flatMap(([short, all]) => {
    if (short === undefined || names.has(short)) return [];
    const places = distinct(all.flatMap((title) => title.places));
    const owner = drafts.find(({ found }) => found.why === undefined && hasSamePlaces(found.places, places));
    if (owner !== undefined && all.every(({ name }) => name !== owner.found.name)) {
      owner.also.push(short);
      return [];
    }
    return [
      { found: { name: short, places, why: 'its title says more', isChoice: places.length > 1 }, also: [] },
    ];
  });
}

const meet = (places: readonly Place[], others: readonly Place[]): boolean =>
  places.some((place) => pathsOf(others).has(pathOf(place)));
const within = (places: readonly Place[], others: readonly Place[]): boolean =>
  places.every((place) => pathsOf(others).has(pathOf(place)));
const hasSamePlaces = (places: readonly Place[], others: readonly Place[]): boolean =>
  places.length === others.length && within(places, others);

const PROMPTS: Readonly<Record<string, string>> = {
  prompt: 'prompt',
  positive: 'prompt',
  positiveprompt: 'prompt',
  negative: 'negative_prompt',
  negativeprompt: 'negative_prompt',
};
function promptMeant(name: string): string | undefined {
  const word = name.replaceAll('_', '');
  return Object.hasOwn(PROMPTS, word) ? PROMPTS[word] : undefined;
}
const isPrompt = (name: string): boolean => promptMeant(name) !== undefined;

/** A title that says prompt and a graph that says otherwise: both are asked. */
function disagree(drafts: Draft[], title: string, places: readonly Place[]): void {
  const name = promptMeant(title) as string;
  const has = ({ found }: Draft): boolean => meet(places, found.places);
  const own = drafts.find(({ found }) => found.name === name);
  if (own !== undefined && has(own)) {
    if (own.found.why === undefined && title !== name) own.also.push(title);
    return;
  }
  const other = drafts.find((draft) => isPrompt(draft.found.name) && has(draft));
  const text = drafts.find((draft) => draft.found.name === 'text' && has(draft));
  if (own === undefined && other === undefined) {
    if (text !== undefined) text.found = { name, places };
    else drafts.push({ found: { name, places }, also: [] });
    return;
  }
  const why = 'the titles say otherwise than the graph';
  for (const draft of [own, other])
    if (draft !== undefined) draft.found = { ...draft.found, why, isChoice: true };
}

/**
 * Two certain names that claim one place are both asked, unless one is a part of the other: a title that names one of several
 * seeds takes it out of them where a sheet has both. An alias never covers a name.
 */
function withoutConflicts(drafts: readonly Draft[]): Pick<Names, 'named' | 'open'> {
  const certain = drafts.filter(({ found }) => found.why === undefined);
  const isShared = ({ name, places }: FoundInput): boolean =>
    certain.some(
      ({ found: other }) =>
        other.name !== name && other.places.length === places.length && meet(other.places, places),
    );
  const names = new Set(drafts.map(({ found }) => found.name));
  const why = (found: FoundInput): string | undefined =>
    found.why ?? (isShared(found) ? 'another name means the same field' : undefined);
  return {
    named: certain
      .filter(({ found }) => !isShared(found))
      .map(({ found: { name, places }, also }) => ({
        name,
        places,
        also: also.filter((alias) => !names.has(alias)),
      })),
    open: drafts.flatMap(({ found }) => {
      const reason = why(found);
      return reason === undefined ? [] : [{ ...found, why: reason }];
    }),
  };
}

function singlesOf(
  graph: LiveGraph,
  taken: ReadonlySet<string>,
  names: ReadonlySet<string>,
): readonly { readonly name: string; readonly place: Place }[] {
  const rest = [...graph.live].flatMap((node) =>
    Object.entries(graph.nodes[node]?.inputs ?? {})
      .filter(([field, value]) => isFillable(value, field) && !isNoted(graph, node, field))
      .filter(([field]) => !taken.has(`${node}.${field}`))
      .map(([field]) => ({ name: field.split('.').at(-1) as string, place: { node, field } })),
  );
  return [...Map.groupBy(rest, ({ name }) => name)]
    .filter(([name, all]) => all.length === 1 && !names.has(name))
    .flatMap(([, all]) => all);
}
