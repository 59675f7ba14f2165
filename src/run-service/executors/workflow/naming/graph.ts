// The graph of a workflow as the naming rules see it: nodes, links, and which nodes reach an output that
// counts.

import { isRawNumber } from '../../../../host/formats/exact-json.ts';
import type { NodeClass } from '../../backend.ts';

export type GraphNode = {
  readonly class_type: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly _meta?: { readonly title?: string | undefined } | undefined;
};
export type GraphNodes = Readonly<Record<string, GraphNode>>;

/** A server's node classes; undefined for a server that does not tell them. */
export type KnownClasses = ReadonlyMap<string, NodeClass> | undefined;

/** A reference to an output of a node, by its position. */
export type Link = { readonly node: string; readonly slot: number };

/** undefined for anything but `[id, number]`. */
export function linkIn(value: unknown): Link | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [node, slot] = value as readonly unknown[];
  const position = isRawNumber(slot) ? Number(slot.rawJSON) : slot;
  if (typeof node !== 'string' || typeof position !== 'number') return undefined;
  return { node, slot: position };
}

/** Whether a value can be filled in: a text, a number or a boolean. */
export const isLiteral = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || isRawNumber(value);

/** Memoizes a function for each object, because all fields of a node need the same facts. */
export function rememberedFor<K extends object, V>(work: (key: K) => V): (key: K) => V {
  const results = new WeakMap<K, { readonly result: V }>();
  return (key) => {
    const remembered = results.get(key) ?? { result: work(key) };
    results.set(key, remembered);
    return remembered.result;
  };
}

/** Words in the classes of nodes that make an output. */
const SAVES: ReadonlySet<string> = new Set(['save', 'saver', 'export', 'send', 'websocket']);
const COMBINES = /video_?combine/i;
const PREVIEWS = /preview/i;
/** Classes that show a text, with the package name in front. */
const SHOWS_TEXT = /(?:^|[^a-z])(?:previewany|show[_ ]?(?:text|any|string)|display[_ ]?(?:text|any|string))/i;

/** Splits a class or field name into words: `VAEEncodeForInpaint` has `vae`, `encode`, `for` and `inpaint`. */
export const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/** Whether a node only shows its input or passes it on. The text in it is left from its last run, so changing it has no effect. */
export const isDisplay = rememberedFor(({ class_type: name, inputs }: GraphNode): boolean =>
  SHOWS_TEXT.test(name)
    ? Object.values(inputs).some((value) => linkIn(value) !== undefined)
    : linkIn(inputs['passthrough']) !== undefined,
);

/** Whether a class saves its input. Its other settings are only recorded in the file and change nothing. */
export const savesFiles = (name: string): boolean =>
  wordsOf(name.replaceAll(IN_BRACKETS, '')).some((word) => SAVES.has(word));
/** Matches the package name of a class. */
const IN_BRACKETS = /\([^()]*\)/g;

export class LiveGraph {
  readonly nodes: GraphNodes;
  readonly classes: KnownClasses;
  /** The ids of the nodes above an output that counts. */
  readonly live: ReadonlySet<string>;
  readonly #users = new Map<
    string,
    { readonly node: string; readonly field: string; readonly slot: number }[]
  >();
  readonly #sources = new Map<string, ReadonlySet<string>>();

  constructor(nodes: GraphNodes, classes: KnownClasses) {
    // The null prototype matters, because a link may name a member that every object has.
    this.nodes = Object.assign(Object.create(null) as object, nodes);
    this.classes = classes;
    for (const [node, { inputs }] of Object.entries(nodes)) {
      const sources = new Set<string>();
      for (const [field, value] of Object.entries(inputs)) {
        const link = linkIn(value);
        if (link === undefined) continue;
        const users = this.#users.get(link.node) ?? [];
        users.push({ node, field, slot: link.slot });
        this.#users.set(link.node, users);
        if (this.nodes[link.node] !== undefined) sources.add(link.node);
      }
      this.#sources.set(node, sources);
    }
    this.live = this.withAbove(this.#outputsThatCount());
  }

  classOf(node: string): NodeClass | undefined {
    return this.classes?.get(this.nodes[node]?.class_type ?? '');
  }

  /** The inputs that are linked to an output of this node. */
  usersOf(node: string): readonly { readonly node: string; readonly field: string; readonly slot: number }[] {
    return this.#users.get(node) ?? [];
  }

  /** The nodes that this node is linked to, each once. */
  sourcesOf(node: string): ReadonlySet<string> {
    return this.#sources.get(node) ?? new Set();
  }

  /** Returns these nodes and everything that they depend on. Each node is visited once, however many depend on it. */
  withAbove(nodes: Iterable<string>): ReadonlySet<string> {
    const reached = new Set<string>();
    for (const node of nodes) {
      if (reached.has(node)) continue;
      reached.add(node);
      const open = [node];
      for (let at = open.pop(); at !== undefined; at = open.pop())
        for (const source of this.sourcesOf(at)) {
          if (reached.has(source)) continue;
          reached.add(source);
          open.push(source);
        }
    }
    return reached;
  }

  /** The nodes that at least one of these depends on. */
  above(nodes: readonly string[]): ReadonlySet<string> {
    return this.withAbove(nodes.flatMap((node) => [...this.sourcesOf(node)]));
  }

  /** The nodes that depend on this node. */
  below(node: string): ReadonlySet<string> {
    const reached = new Set<string>();
    const open = [node];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const user of this.usersOf(at)) {
        if (reached.has(user.node)) continue;
        reached.add(user.node);
        open.push(user.node);
      }
    return reached;
  }

  /** Savers and shown texts count; previews only if nothing is saved; else the nodes that no other node uses. */
  #outputsThatCount(): readonly string[] {
    const outputs = Object.keys(this.nodes).filter((node) => this.isOutput(node));
    const kept = outputs.filter((node) => !this.isPreview(node));
    const counted = [...kept, ...this.savedPreviews()];
    if (counted.length > 0) return counted;
    return outputs.length > 0
      ? outputs
      : Object.keys(this.nodes).filter((node) => this.usersOf(node).length === 0);
  }

  /** Whether a node shows files without saving them. */
  isPreview(node: string): boolean {
    const { class_type: name = '', inputs = {} } = this.nodes[node] ?? {};
    return (PREVIEWS.test(name) && !SHOWS_TEXT.test(name)) || inputs['save_output'] === false;
  }

  /**
   * The previews of a workflow that saves no file; their content is its result. A preview of a loaded file is
   * left out, such as one beside a caption.
   */
  savedPreviews(): readonly string[] {
    const outputs = Object.keys(this.nodes).filter((node) => this.isOutput(node));
    const isSaver = (node: string): boolean =>
      !this.isPreview(node) && !SHOWS_TEXT.test(this.nodes[node]?.class_type ?? '');
    if (outputs.some(isSaver)) return [];
    const previews = outputs.filter((node) => this.isPreview(node));
    const isMade = (node: string): boolean => this.sourcesOf(node).size > 0;
    const made = previews.filter((node) => [...this.sourcesOf(node)].some(isMade));
    return made.length > 0 || outputs.length > previews.length ? made : previews;
  }

  /** Whether a node makes an output of the workflow. */
  isOutput(node: string): boolean {
    const { class_type: name, inputs } = this.nodes[node] as GraphNode;
    if (!Object.values(inputs).some((value) => linkIn(value) !== undefined)) return false;
    const isShown = SHOWS_TEXT.test(name);
    if (isShown) return this.usersOf(node).length === 0;
    const isDeclared = this.classOf(node)?.isOutput;
    if (isDeclared !== undefined) return isDeclared;
    const isSaver = savesFiles(name) || COMBINES.test(name);
    return inputs['filename_prefix'] !== undefined || isSaver || PREVIEWS.test(name);
  }
}
