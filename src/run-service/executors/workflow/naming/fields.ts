// Names inputs by the fields themselves: seeds, sizes, and the settings of samplers.

import { isRawNumber } from '../../../../host/formats/exact-json.ts';
import { isLiteral, linkIn, savesFiles, type GraphNode, type LiveGraph } from './graph.ts';
import { LOADS, pathOf, placeOf, valueAt, type FieldPlace } from './values.ts';

export type FoundInput = {
  readonly name: string;
  readonly places: readonly FieldPlace[];
  /** Why a user must choose between the places, or confirm all of them. */
  readonly why?: string;
  /** The places differ in meaning, so no answer can be proposed. */
  readonly isChoice?: boolean;
};

/** A field of a live node, and the place that holds its value. */
type Claim = { readonly node: string; readonly field: string; readonly place: FieldPlace };

const SEEDS: ReadonlySet<string> = new Set(['seed', 'noise_seed', 'seed_num', 'rand_seed']);

/** Fields that most workflows have once, which name the input, and their other spellings. */
const SINGLE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    (
      'steps cfg guidance denoise sampler_name scheduler shift ckpt_name unet_name lora_name strength_model strength_clip ' +
      'control_net_name vae_name clip_skip upscale_by megapixels aspect_ratio'
    )
      .split(' ')
      .map((name) => [name, name]),
  ),
  inference_steps: 'steps',
  num_inference_steps: 'steps',
  diffusion_steps: 'steps',
  cfg_scale: 'cfg',
  guidance_scale: 'guidance',
};
const LENGTHS: ReadonlySet<string> = new Set([
  'length',
  'num_frames',
  'video_length',
  'video_frames',
  'frames',
]);
const RATES: ReadonlySet<string> = new Set(['fps', 'frame_rate']);

/** Classes that make a latent, for servers that do not list return types. */
const MAKES_LATENT = /empty|latent|to_?video|i2v|t2v|img2vid/i;
const TAKES_LATENT = /^(?:samples|latents?|latent_image)$/;
const KEEPS_SIZE = /scale|crop|composite|batch|mask|tile|noise/i;
const RESIZES = /scale|resize/i;
const SIDES = {
  width: ['width', 'empty_latent_width', 'target_width'],
  height: ['height', 'empty_latent_height', 'target_height'],
} as const;

const isNumber = (value: unknown): boolean => typeof value === 'number' || isRawNumber(value);

const settingFields = (graph: LiveGraph, node: string): readonly string[] =>
  Object.keys(graph.nodes[node]?.inputs ?? {}).filter(
    (field) =>
      Object.hasOwn(SINGLE, field) ||
      [SEEDS, LENGTHS, RATES].some((fields) => fields.has(field)) ||
      field === 'strength' ||
      field === 'batch_size',
  );

const claimsOf = (graph: LiveGraph): readonly Claim[] =>
  [...graph.live].flatMap((node) =>
    settingFields(graph, node).flatMap((field) => {
      const place = placeOf(graph, node, field);
      return place === undefined ? [] : [{ node, field, place }];
    }),
  );

/** Each place once, ordered by path, so that the order of the file has no influence. */
export function distinct(places: readonly FieldPlace[]): readonly FieldPlace[] {
  const byPath = new Map(places.map((place) => [pathOf(place), place]));
  return [...byPath].toSorted(([a], [b]) => ORDER.compare(a, b)).map(([, place]) => place);
}
const ORDER = new Intl.Collator('en', { numeric: true });

export function settingsOf(graph: LiveGraph): readonly FoundInput[] {
  const claims = claimsOf(graph);
  const settings = Map.groupBy(
    claims.flatMap((claim) => {
      const name = settingOf(graph, claim);
      return name === undefined ? [] : [{ name, place: claim.place }];
    }),
    ({ name }) => name,
  );
  const calculated = calculatedIn(graph);
  const singles = [...settings].map(([name, sameSetting]) => {
    const places = distinct(sameSetting.map(({ place }) => place));
    const calculations = calculated.get(name) ?? [];
    const [place] = places;
    return places.length === 1 && place !== undefined && isElsewhere(graph, place, calculations)
      ? { name, places, why: 'another node calculates its own', isChoice: true }
      : single(graph, name, places);
  });
  const seeds = distinct(
    claims
      .filter(({ field, place }) => SEEDS.has(field) && isNumber(valueAt(graph, place)))
      .map(({ place }) => place),
  );
  return [...(seeds.length === 0 ? [] : [{ name: 'seed', places: seeds }]), ...sizesOf(graph), ...singles];
}

/** Whether one of the nodes depends on more than the place. */
function isElsewhere(
  graph: LiveGraph,
  { node }: FieldPlace,
  calculations: readonly { node: string }[],
): boolean {
  if (calculations.length === 0) return false;
  const below = graph.below(node);
  return calculations.some((calculation) => !below.has(calculation.node));
}

/** Settings that a live node gets from a calculation, with the calculating nodes. */
const calculatedIn = (graph: LiveGraph): ReadonlyMap<string | undefined, readonly { node: string }[]> =>
  Map.groupBy(
    [...graph.live].flatMap((node) =>
      settingFields(graph, node)
        .filter((field) => linkIn(graph.nodes[node]?.inputs[field]) !== undefined)
        .filter((field) => placeOf(graph, node, field) === undefined)
        .map((field) => ({ node, name: settingNamed(graph, node, field) })),
    ),
    ({ name }) => name,
  );

const settingOf = (graph: LiveGraph, { node, field, place }: Claim): string | undefined =>
  isLiteral(valueAt(graph, place)) ? settingNamed(graph, node, field) : undefined;

/** The setting that a field of a node stands for. */
function settingNamed(graph: LiveGraph, node: string, field: string): string | undefined {
  const { class_type: name } = graph.nodes[node] as GraphNode;
  if (savesFiles(name) && !RATES.has(field)) return undefined;
  // Nodes that add frames or sharpen also call their model `ckpt_name`.
  if (field === 'ckpt_name' && !LOADS.test(name) && !/checkpoint/i.test(name)) return undefined;
  if (Object.hasOwn(SINGLE, field)) return SINGLE[field];
  if (field === 'strength') return /control_?net/i.test(name) ? 'strength' : undefined;
  if (RATES.has(field)) return 'fps';
  if (field !== 'batch_size' && !LENGTHS.has(field)) return undefined;
  if (!makesLatent(graph, node)) return undefined;
  return field === 'batch_size' ? field : 'length';
}

function single(graph: LiveGraph, name: string, places: readonly FieldPlace[]): FoundInput {
  if (places.length === 1) return { name, places };
  return {
    name,
    places,
    why: 'several nodes have it',
    ...(areUnlike(graph, places) && { isChoice: true }),
  };
}

const areUnlike = (graph: LiveGraph, places: readonly FieldPlace[]): boolean =>
  new Set(places.map((place) => String(valueAt(graph, place)))).size > 1;

function makesLatent(graph: LiveGraph, node: string): boolean {
  const { class_type: name, inputs } = graph.nodes[node] as GraphNode;
  const takes = Object.entries(inputs).some(
    ([field, value]) => TAKES_LATENT.test(field) && linkIn(value) !== undefined,
  );
  if (takes) return false;
  const outputs = graph.classOf(node)?.outputs;
  if (outputs?.some(({ type }) => type === 'LATENT') === true) return true;
  const hasOwnSides = inputs['empty_latent_width'] !== undefined;
  return hasOwnSides || (MAKES_LATENT.test(name) && !KEEPS_SIZE.test(name));
}

/** Width and height of the output, taken from the only node that makes a latent. */
function sizesOf(graph: LiveGraph): readonly FoundInput[] {
  const makers = [...graph.live].filter(
    (node) => makesLatent(graph, node) && sideOf(graph, node, 'width') !== undefined,
  );
  const nodes = makers.length > 0 ? makers : resizesBefore(graph);
  const pairs = nodes.map((node) => ({
    node,
    width: sideOf(graph, node, 'width'),
    height: sideOf(graph, node, 'height'),
  }));
  const scalings = makers.length > 0 ? scalingsBefore(graph, pairs) : [];
  const why = whyAsked(pairs) ?? (scalings.length > 0 ? 'a picture is scaled before it' : undefined);
  return (['width', 'height'] as const).flatMap((name) => {
    const own = distinct(pairs.flatMap((pair) => pair[name] ?? []));
    if (own.length === 0) return [];
    if (why !== undefined) {
      const places = distinct([...own, ...scalings.flatMap((pair) => pair[name] ?? [])]);
      return [{ name, places, why, isChoice: own.length > 1 || areUnlike(graph, places) }];
    }
    return [{ name, places: distinct([...own, ...followersOf(graph, name, own)]) }];
  });
}

type Pair = {
  readonly node: string;
  readonly width: FieldPlace | undefined;
  readonly height: FieldPlace | undefined;
};

const pathsOf = ({ width, height }: Pair): string =>
  [width, height].map((side) => side && pathOf(side)).join();

function whyAsked(pairs: readonly Pair[]): string | undefined {
  const [first] = pairs;
  if (new Set(pairs.map(pathsOf)).size > 1) return 'several nodes have a size';
  if (
    first?.width !== undefined &&
    first.height !== undefined &&
    pathOf(first.width) === pathOf(first.height)
  )
    return 'width and height are one field';
  return undefined;
}

/** Scalings of a picture before a latent of another size is made. */
function scalingsBefore(graph: LiveGraph, pairs: readonly Pair[]): readonly Pair[] {
  const made = new Set(pairs.map(pathsOf));
  return [...graph.above(pairs.map(({ node }) => node))]
    .filter((node) => RESIZES.test(graph.nodes[node]?.class_type ?? ''))
    .map((node) => ({ node, width: sideOf(graph, node, 'width'), height: sideOf(graph, node, 'height') }))
    .filter(({ node, width, height }) => width?.node === node || height?.node === node)
    .filter((pair) => !made.has(pathsOf(pair)));
}

function sideOf(graph: LiveGraph, node: string, side: 'width' | 'height'): FieldPlace | undefined {
  for (const field of SIDES[side]) {
    const place = placeOf(graph, node, field);
    if (place !== undefined && isNumber(valueAt(graph, place))) return place;
  }
  return undefined;
}

/** Nodes that scale a picture before the sampler, where nothing makes an empty latent. */
function resizesBefore(graph: LiveGraph): readonly string[] {
  const samplers = [...graph.live].filter(
    (node) => linkIn(graph.nodes[node]?.inputs['latent_image']) !== undefined,
  );
  const before = graph.above(samplers);
  return [...graph.live].filter(
    (node) =>
      RESIZES.test(graph.nodes[node]?.class_type ?? '') &&
      sideOf(graph, node, 'width') !== undefined &&
      before.has(node),
  );
}

/** Fields that repeat the size for a model and must change with it. */
function followersOf(
  graph: LiveGraph,
  side: 'width' | 'height',
  own: readonly FieldPlace[],
): readonly FieldPlace[] {
  const values = new Set(own.map((place) => String(valueAt(graph, place))));
  return [...graph.live]
    .filter((node) => /^modelsampling/i.test(graph.nodes[node]?.class_type ?? ''))
    .flatMap((node) => placeOf(graph, node, side) ?? [])
    .filter((place) => values.has(String(valueAt(graph, place))));
}
