// The node classes of the stand-in: those of ComfyUI that need no model, and those of nodes.py.

import { crc32 } from 'node:zlib';
import { integerFrom, isRawNumber } from '../../src/host/formats/exact-json.ts';
import type { ImageFiles } from './image-files.ts';
import { MODEL_CLASSES } from './model-classes.ts';

/** A workflow in ComfyUI's API format. A list as an input is a link: the id of a node, and which of its results. */
export type Graph = Readonly<Record<string, GraphNode>>;
type GraphNode = { readonly class_type: string; readonly inputs: Record<string, unknown> };

/** A list as type is a choice. */
export type Field = readonly [type: string | readonly string[], options?: Readonly<Record<string, unknown>>];
type Fields = Readonly<Record<string, Field>>;

/** A server's files and models, beside its classes. `breaks`: whether a picture of this text is an exception. */
export type Stock = {
  readonly files: ImageFiles;
  readonly checkpoints: readonly string[];
  readonly breaks: (text: string) => boolean;
};

type Inputs = Readonly<Record<string, unknown>>;
export type Made = {
  readonly results: readonly unknown[];
  readonly ui?: Readonly<Record<string, unknown[]>>;
};

/** A node's surroundings while it runs. */
type Surroundings = Stock & {
  readonly graph: Graph;
  readonly pause: (ms: number) => Promise<void>;
  /** Reports a step, and throws if the prompt was interrupted. */
  readonly step: (value: number, max: number) => void;
};

export type NodeClass = {
  readonly required: (stock: Stock) => Fields;
  readonly optional?: Fields;
  readonly returns: readonly string[];
  readonly isOutput?: true;
  /** Old classes say nothing, newer ones say no. */
  readonly isPaid?: boolean;
  /** Replaces the check of one field: why its value is refused. */
  readonly refuses?: {
    readonly field: string;
    readonly why: (value: unknown, stock: Stock) => string | undefined;
  };
  /** Dependencies of the result other than the inputs. */
  readonly changed?: (inputs: Inputs, stock: Stock) => unknown;
  readonly run: (inputs: Inputs, at: Surroundings) => Made | Promise<Made>;
};

/** The exception of a node, under Python's name of its type. */
export class NodeException extends Error {
  readonly type: string;
  constructor(type: string, message: string) {
    super(message);
    this.type = type;
  }
}

/** A batch of pictures, each of one colour, 0xRRGGBB. */
type Pictures = readonly number[];

const WIDEST = 16384;
const size = (least: number): Field => ['INT', { default: 512, min: least, max: WIDEST, step: 1 }];
const IMAGE: Field = ['IMAGE'];
const text = (of: string): Field => ['STRING', { default: of }];

const DRAW: NodeClass = {
  required: () => ({
    text: ['STRING', { multiline: true, default: '' }],
    seed: [
      'INT',
      { default: 0, min: 0, max: integerFrom('18446744073709551615'), control_after_generate: true },
    ],
    style: [['plain', 'bold']],
  }),
  optional: { model: ['MODEL'] },
  returns: ['IMAGE'],
  run: ({ text: words, seed, style }, { breaks }) => {
    if (breaks(String(words))) throw new NodeException('RuntimeError', 'injected failure');
    return { results: [[drawnColour(String(words), digitsOf(seed), String(style))]] };
  },
};

/** The colour of the picture that the class Draw makes, here and in nodes.py. */
export function drawnColour(words: string, seed: string | number, style = 'plain'): number {
  return crc32(`${words}|${seed}|${style}`) & 0xff_ff_ff;
}

export const NODE_CLASSES: Readonly<Record<string, NodeClass>> = {
  ...MODEL_CLASSES,
  EmptyImage: {
    required: () => ({
      width: size(1),
      height: size(1),
      batch_size: ['INT', { default: 1, min: 1, max: 4096 }],
      color: ['INT', { default: 0, min: 0, max: 0xff_ff_ff, step: 1, display: 'color' }],
    }),
    returns: ['IMAGE'],
    run: ({ batch_size, color }) => ({ results: [Array.from({ length: Number(batch_size) }, () => color)] }),
  },
  ImageScale: {
    required: () => ({
      image: IMAGE,
      upscale_method: [['nearest-exact', 'bilinear', 'area', 'bicubic', 'lanczos']],
      width: size(0),
      height: size(0),
      crop: [['disabled', 'center']],
    }),
    returns: ['IMAGE'],
    run: ({ image }) => ({ results: [image] }),
  },
  SaveImage: {
    required: () => ({ images: ['IMAGE', {}], filename_prefix: text('ComfyUI') }),
    returns: [],
    isOutput: true,
    run: ({ images, filename_prefix }, { files, graph }) =>
      shown(files.save('output', String(filename_prefix), images as Pictures, graph)),
  },
  PreviewImage: {
    required: () => ({ images: IMAGE }),
    returns: [],
    isOutput: true,
    run: ({ images }, { files, graph }) =>
      shown(files.save('temp', 'ComfyUI_temp_abcde', images as Pictures, graph)),
  },
  LoadImage: {
    required: ({ files }) => ({ image: [files.inputs(), { image_upload: true }] }),
    returns: ['IMAGE', 'MASK'],
    refuses: {
      field: 'image',
      why: (name, { files }) =>
        files.input(String(name)) === undefined ? `Invalid image file: ${String(name)}` : undefined,
    },
    changed: ({ image }, { files }) => crc32(files.input(String(image)) ?? ''),
    run: ({ image }, { files }) => ({ results: [[files.inputColour(String(image))], undefined] }),
  },
  CheckpointLoaderSimple: {
    required: ({ checkpoints }) => ({ ckpt_name: [checkpoints, {}] }),
    returns: ['MODEL', 'CLIP', 'VAE'],
    run: ({ ckpt_name }) => ({ results: [ckpt_name, ckpt_name, ckpt_name] }),
  },
  PrimitiveString: {
    required: () => ({ value: ['STRING', { multiline: false }] }),
    returns: ['STRING'],
    isPaid: false,
    run: ({ value }) => ({ results: [value] }),
  },
  /** The bounds have 64 bits. */
  PrimitiveInt: {
    required: () => ({
      value: [
        'INT',
        {
          min: integerFrom('-9223372036854775807'),
          max: integerFrom('9223372036854775807'),
          control_after_generate: true,
        },
      ],
    }),
    returns: ['INT'],
    isPaid: false,
    run: ({ value }) => ({ results: [value] }),
  },
  PreviewAny: {
    required: () => ({ source: ['*', {}] }),
    returns: [],
    isOutput: true,
    run: ({ source }) => ({ results: [], ui: { text: [String(source)] } }),
  },
  Draw: DRAW,
  PaidDraw: { ...DRAW, isPaid: true },
  Sleep: {
    required: () => ({
      image: IMAGE,
      seconds: ['FLOAT', { default: 1, min: 0, max: 86_400 }],
      steps: ['INT', { default: 10, min: 1, max: 10_000 }],
    }),
    returns: ['IMAGE'],
    run: async ({ image, seconds, steps }, { pause, step }) => {
      for (let done = 1; done <= Number(steps); done++) {
        await pause((Number(seconds) * 1000) / Number(steps));
        step(done, Number(steps));
      }
      return { results: [image] };
    },
  },
  Fail: {
    required: () => ({ image: IMAGE, message: text('It failed.'), exception_type: text('RuntimeError') }),
    returns: ['IMAGE'],
    run: ({ message, exception_type }) => {
      throw new NodeException(String(exception_type), String(message));
    },
  },
};

const shown = (images: readonly unknown[]): Made => ({ results: [], ui: { images: [...images] } });

/** The digits of an integer, exact also beyond 2^53. */
export const digitsOf = (value: unknown): string => (isRawNumber(value) ? value.rawJSON : String(value));

/** The description of a class in `GET /object_info`. */
export function describeClass(name: string, stock: Stock): object {
  const { required, optional, returns, isOutput = false, isPaid } = NODE_CLASSES[name] as NodeClass;
  return {
    input: { required: required(stock), ...(optional && { optional }) },
    input_order: {
      required: Object.keys(required(stock)),
      ...(optional && { optional: Object.keys(optional) }),
    },
    output: returns,
    output_is_list: returns.map(() => false),
    output_name: returns,
    name,
    display_name: name,
    description: '',
    python_module: 'nodes',
    category: 'image',
    output_node: isOutput,
    ...(isPaid !== undefined && { api_node: isPaid }),
  };
}
