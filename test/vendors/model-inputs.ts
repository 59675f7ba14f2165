// The inputs of the model that every stand-in runs, as JSON Schema, and their validation.

export type ModelInputs = Readonly<Record<string, unknown>>;

export const INPUT_SCHEMA = {
  type: 'object',
  title: 'Input',
  required: ['prompt'],
  properties: {
    prompt: { type: 'string', title: 'Prompt', description: 'What the picture shows', 'x-order': 0 },
    seed: { type: 'integer', title: 'Seed', 'x-order': 1 },
    steps: { type: 'integer', title: 'Steps', minimum: 1, maximum: 50, default: 28, 'x-order': 2 },
    strength: { type: 'number', title: 'Strength', minimum: 0, maximum: 1, default: 0.8, 'x-order': 3 },
    format: { type: 'string', title: 'Format', enum: ['png', 'webp'], default: 'png', 'x-order': 4 },
    image: { type: 'string', title: 'Image', format: 'uri', 'x-order': 5 },
  },
} as const;

/** A reason to refuse inputs, which each vendor words in its own way. */
export type InputFault = {
  readonly kind: 'missing' | 'type' | 'least' | 'most' | 'enum';
  readonly field: string;
  readonly bound?: number | readonly string[];
};

export function faultsOf(input: ModelInputs): readonly InputFault[] {
  const missing = INPUT_SCHEMA.required.filter((field) => input[field] === undefined);
  return [
    ...missing.map((field) => ({ kind: 'missing' as const, field })),
    ...Object.entries(INPUT_SCHEMA.properties).flatMap(([field, schema]): readonly InputFault[] => {
      const value = input[field];
      if (value === undefined) return [];
      const isRight = schema.type === 'integer' ? Number.isInteger(value) : typeof value === schema.type;
      if (!isRight) return [{ kind: 'type', field }];
      if ('enum' in schema && !(schema.enum as readonly unknown[]).includes(value))
        return [{ kind: 'enum', field, bound: schema.enum }];
      if ('minimum' in schema && Number(value) < schema.minimum)
        return [{ kind: 'least', field, bound: schema.minimum }];
      return 'maximum' in schema && Number(value) > schema.maximum
        ? [{ kind: 'most', field, bound: schema.maximum }]
        : [];
    }),
  ];
}
