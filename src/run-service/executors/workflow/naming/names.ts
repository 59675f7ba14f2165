// Names the inputs of a workflow as its owner would, a pure function of the graph and of the server's node
// classes. A certain name fills its places; an ambiguous name becomes a question; any other field is reached
// as NODE.FIELD.

import { distinct, settingsOf, type FoundInput } from './fields.ts';
import { filesOf, isFiles } from './loaded-files.ts';
import { isDisplay, isLiteral, LiveGraph, savesFiles, type GraphNodes, type KnownClasses } from './graph.ts';
import { PART, partName, promptsOf } from './prompts.ts';
import { titlesOf, type Title } from './titles.ts';
import { pathOf, pathsOf, valueAt, type FieldPlace } from './values.ts';

type NamedInput = {
  readonly name: string;
  readonly places: readonly FieldPlace[];
  /** Titles, which are aliases of the same places. */
  readonly also: readonly string[];
  /** The part of the text that is replaced, such as `{{subject}}`. */
  readonly part?: string;
};

/** An ambiguous name, which raises a question if the sheet has a column for it. */
type OpenName = FoundInput & { readonly why: string };

export type Names = {
  readonly named: readonly NamedInput[];
  readonly open: readonly OpenName[];
  /** Fields whose last word is unique among the live nodes; a column of this name raises a question. */
  readonly single: readonly { readonly name: string; readonly place: FieldPlace }[];
};

/** Fields that are widgets of the browser, or whose value the service chooses. */
const NEVER =
  /^(?:filename_prefix|upload|choose .* to upload|audioUI|control_after_generate|speak_and_recognation|_widgets_values|device|type|mode|weight_dtype|input_id)$|comparer|header/i;

/** Fields in which `%x%` is filled in by ComfyUI or a node. */
const NAMES_FILES = /file|path|folder|prefix|format|date|time/i;

/** Whether a field may be filled in at all. */
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

/** Whether a field holds a leftover of the last run, or a setting that is only recorded in a saved file. */
const isNoted = (graph: LiveGraph, node: string, field: string): boolean =>
  shows(graph, node) || (NOTES.test(field) && savesFiles(graph.nodes[node]?.class_type ?? ''));
const NOTES =
  /^(?:width|height|seed\w*|steps|cfg|denoise|clip_skip|sampler_name|scheduler\w*|modelname|positive|negative)$/;

/** `{{x}}` in a live text is an input of its own. A text that consists of one part is the field itself. */
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
  return [...Map.groupBy(parts, ({ name }) => name)].map(([name, sameName]) => ({
    name,
    places: distinct(sameName.map(({ place }) => place)),
    also: [],
    part: sameName[0]?.part as string,
  }));
}

type Draft = { input: FoundInput; also: string[] };

/** Titles name unnamed places, become aliases of named ones, and win where they mean another input. */
function withTitles(graph: LiveGraph, inputs: readonly FoundInput[]): readonly Draft[] {
  let drafts: Draft[] = inputs.map((input) => ({ input, also: [] }));
  const titles = titlesOf(graph);
  /** Paths that titles have named. */
  const titled = new Set<string>();
  for (const { name, places, isExplicit } of titles) {
    const owner = drafts.find(
      (draft) => draft.input.why === undefined && hasSamePlaces(draft.input.places, places),
    );
    if (!isExplicit && isPrompt(name)) disagree(drafts, name, places);
    else if (owner !== undefined) {
      // A graph name that a title overrides keeps its address only.
      drafts = drafts.filter((draft) => draft === owner || draft.input.name !== name);
      owner.also.push(name);
    } else {
      for (const place of places) titled.add(pathOf(place));
      const isOver = ({ input }: Draft): boolean =>
        input.name === name || (isExplicit && input.why === undefined && within(input.places, places));
      drafts = [...drafts.filter((draft) => !isOver(draft)), { input: { name, places }, also: [] }];
    }
  }
  // Pictures that all have titles leave no question.
  const left = drafts.filter(
    ({ input: { why, name, places } }) =>
      why === undefined || !isFiles(name) || !places.every((place) => titled.has(pathOf(place))),
  );
  return [...left, ...withShortNames(left, titles)];
}

/**
 * If `First frame (16:9)` is the only picture, `first frame` names it, too. `Length (seconds)` of a number
 * that only its title names may be the meaning of a column `length`, which becomes a question.
 */
function withShortNames(drafts: readonly Draft[], titles: readonly Title[]): readonly Draft[] {
  const names = new Set(drafts.map(({ input: { name } }) => name));
  return [...Map.groupBy(titles, ({ short }) => short)].flatMap(([short, sameShort]) => {
    if (short === undefined || names.has(short)) return [];
    const places = distinct(sameShort.flatMap((title) => title.places));
    const owner = drafts.find(({ input }) => input.why === undefined && hasSamePlaces(input.places, places));
    if (owner !== undefined && sameShort.every(({ name }) => name !== owner.input.name)) {
      owner.also.push(short);
      return [];
    }
    return [
      { input: { name: short, places, why: 'its title says more', isChoice: places.length > 1 }, also: [] },
    ];
  });
}

const meet = (places: readonly FieldPlace[], claimed: readonly FieldPlace[]): boolean =>
  places.some((place) => pathsOf(claimed).has(pathOf(place)));
const within = (places: readonly FieldPlace[], claimed: readonly FieldPlace[]): boolean =>
  places.every((place) => pathsOf(claimed).has(pathOf(place)));
const hasSamePlaces = (places: readonly FieldPlace[], claimed: readonly FieldPlace[]): boolean =>
  places.length === claimed.length && within(places, claimed);

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

/** If the title says prompt and the graph disagrees, both become questions. */
function disagree(drafts: Draft[], title: string, places: readonly FieldPlace[]): void {
  const name = promptMeant(title) as string;
  const has = ({ input }: Draft): boolean => meet(places, input.places);
  const own = drafts.find(({ input }) => input.name === name);
  if (own !== undefined && has(own)) {
    if (own.input.why === undefined && title !== name) own.also.push(title);
    return;
  }
  const promptDraft = drafts.find((draft) => isPrompt(draft.input.name) && has(draft));
  const text = drafts.find((draft) => draft.input.name === 'text' && has(draft));
  if (own === undefined && promptDraft === undefined) {
    if (text !== undefined) text.input = { name, places };
    else drafts.push({ input: { name, places }, also: [] });
    return;
  }
  const why = 'the titles contradict the graph';
  for (const draft of [own, promptDraft])
    if (draft !== undefined) draft.input = { ...draft.input, why, isChoice: true };
}

/**
 * Two certain names that claim one place both become questions, unless the one is part of the other: a title
 * that names one of several seeds takes it out of the group where a sheet has both. An alias never hides a
 * name.
 */
function withoutConflicts(drafts: readonly Draft[]): Pick<Names, 'named' | 'open'> {
  const certain = drafts.filter(({ input }) => input.why === undefined);
  const isShared = ({ name, places }: FoundInput): boolean =>
    certain.some(
      ({ input: rival }) =>
        rival.name !== name && rival.places.length === places.length && meet(rival.places, places),
    );
  const names = new Set(drafts.map(({ input }) => input.name));
  const why = (input: FoundInput): string | undefined =>
    input.why ?? (isShared(input) ? 'another name means the same field' : undefined);
  return {
    named: certain
      .filter(({ input }) => !isShared(input))
      .map(({ input: { name, places }, also }) => ({
        name,
        places,
        also: also.filter((alias) => !names.has(alias)),
      })),
    open: drafts.flatMap(({ input }) => {
      const reason = why(input);
      return reason === undefined ? [] : [{ ...input, why: reason }];
    }),
  };
}

function singlesOf(
  graph: LiveGraph,
  taken: ReadonlySet<string>,
  names: ReadonlySet<string>,
): readonly { readonly name: string; readonly place: FieldPlace }[] {
  const unnamed = [...graph.live].flatMap((node) =>
    Object.entries(graph.nodes[node]?.inputs ?? {})
      .filter(([field, value]) => isFillable(value, field) && !isNoted(graph, node, field))
      .filter(([field]) => !taken.has(`${node}.${field}`))
      .map(([field]) => ({ name: field.split('.').at(-1) as string, place: { node, field } })),
  );
  return [...Map.groupBy(unnamed, ({ name }) => name)]
    .filter(([name, sameWord]) => sameWord.length === 1 && !names.has(name))
    .flatMap(([, sameWord]) => sameWord);
}
