// Inputs that name a file: pictures, masks, videos, sounds and others, by their kinds and the fields that they reach.

import { mediaKindOf } from '../../../../host/formats/media-types.ts';
import { distinct, type FoundInput } from './fields.ts';
import { rememberedFor, wordsOf, type GraphNode, type LiveGraph } from './graph.ts';
import { LOADS, type FieldPlace } from './values.ts';

const FILES = ['image', 'mask', 'video', 'audio', 'model', 'file'] as const;
export type Files = (typeof FILES)[number];
/** Whether the name stands for all files of a kind. */
export const isFiles = (name: string): boolean => FILES.some((kind) => kind === name);

const MODEL = /\.(?:glb|gltf|obj|fbx|stl|ply|usdz)$/i;
/** Matches a file that is written into the text itself. */
const BASE64 = /^(?:data:[^,]*,)?[A-Za-z\d+/]{200}/;
const LOADS_MODEL =
  /checkpoint|lora|unet|vae|clip|control_?net|upscale_?model|style_?model|diffusion|encoder|ipadapter|insightface/i;
const MAKES_MASK = /image_?to_?mask/i;
/** Nodes that change a picture and pass it on. */
const HANDS_ON_FILES: ReadonlySet<string> = new Set(
  'scale resize crop batch trim pad padding rotate flip convert resizer resized reroute'.split(' '),
);

/** The kind of file that a field names; undefined if it names none. */
export function fileKindAt(graph: LiveGraph, { node, field }: FieldPlace): Files | undefined {
  const { class_type: name, inputs } = graph.nodes[node] as GraphNode;
  const value = inputs[field];
  if (typeof value !== 'string' || BASE64.test(value)) return undefined;
  const input = graph.classOf(node)?.inputs[field];
  const told = input?.upload ?? kindNamed(value);
  const isLoaded = LOADS.test(name) && !LOADS_MODEL.test(name);
  const guessed = isLoaded && /^(?:image|video|audio|mask)$/.test(field) ? (field as Files) : undefined;
  const kind =
    input?.isFile === true
      ? (told ?? guessed ?? 'file')
      : ((isLoaded || told === undefined ? guessed : undefined) ?? (isLoaded ? told : undefined));
  if (kind !== 'image') return kind;
  return wordsOf(name).includes('mask') || masksIn(graph).has(node) ? 'mask' : 'image';
}

/** The kind of `fox.png [output]`, by its extension. */
function kindNamed(value: string): Files | undefined {
  const name = value.replace(/ \[\w+\]$/, '');
  const kind = MODEL.test(name) ? 'model' : mediaKindOf(name);
  return kind === 'picture' ? 'image' : kind;
}

/** The nodes whose picture is only used as a mask. */
const masksIn = rememberedFor(
  (graph: LiveGraph): ReadonlySet<string> =>
    new Set(
      Object.keys(graph.nodes).filter((node) => {
        const users = graph.usersOf(node);
        const makesMask = (id: string): boolean => MAKES_MASK.test(graph.nodes[id]?.class_type ?? '');
        return users.length > 0 && users.every((user) => user.slot === 1 || makesMask(user.node));
      }),
    ),
);

/** Fields that receive the size of a picture. */
const NO_PICTURE = /(?:^|_)(?:width|height|size|length|count)$/i;

/** The fields that a file reaches, through nodes that pass pictures on. */
function reachedBy(graph: LiveGraph, node: string, seen = new Set<string>()): readonly FieldPlace[] {
  if (seen.has(node)) return [];
  seen.add(node);
  return graph.usersOf(node).flatMap((user) => {
    if (NO_PICTURE.test(user.field)) return [];
    if (!graph.live.has(user.node) || graph.isPreview(user.node)) return [];
    const words = wordsOf(graph.nodes[user.node]?.class_type ?? '');
    return words.some((word) => HANDS_ON_FILES.has(word)) ? reachedBy(graph, user.node, seen) : [user];
  });
}

export function filesOf(graph: LiveGraph): readonly FoundInput[] {
  const files = [...graph.live].flatMap((node) =>
    Object.keys(graph.nodes[node]?.inputs ?? {}).flatMap((field) => {
      const kind = fileKindAt(graph, { node, field });
      return kind === undefined ? [] : [{ kind, place: { node, field } }];
    }),
  );
  return [...Map.groupBy(files, ({ kind }) => kind)].flatMap(([kind, filesOfKind]) =>
    ofKind(
      graph,
      kind,
      filesOfKind.map(({ place }) => place),
    ),
  );
}

function ofKind(graph: LiveGraph, kind: Files, places: readonly FieldPlace[]): readonly FoundInput[] {
  if (places.length === 1) return [{ name: kind, places }];
  const fields = fieldsReached(graph, places);
  if (fields === undefined)
    return [{ name: kind, places, why: `${places.length} nodes load one`, isChoice: true }];
  return places.map((place, at) => ({
    name: (fields[at] as string).replace(/^(image|video|audio)_?(\d+)$/, '$1_$2'),
    places: [place],
  }));
}

/** A bound above the number of files that any node takes, because each file is followed through the graph. */
const MAX_FOLLOWED = 100;

/** The field that each place reaches. Undefined unless each place reaches exactly one, all of them on one node and no two the same. */
function fieldsReached(graph: LiveGraph, places: readonly FieldPlace[]): readonly string[] | undefined {
  if (places.length > MAX_FOLLOWED) return undefined;
  const fields = new Map<string, FieldPlace>();
  for (const { node } of places) {
    const [only, ...further] = distinct(reachedBy(graph, node));
    const [first = only] = fields.values();
    if (only === undefined || further.length > 0 || first?.node !== only.node || fields.has(only.field))
      return undefined;
    fields.set(only.field, only);
  }
  return [...fields.keys()];
}
