// The JSON Schemas of the nouns, as the package has them, and as the tests use them: without unknown fields.

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { JOB_FLAGS, snake, STAGE_FLAGS, WHEN } from '../../src/cli/job/job-file.ts';
import { NOUNS, type Noun } from './nouns.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as typeof addFormats.default)(ajv);

/** Fields may be added later, so a reader must accept those that it does not know. */
export const publishedSchema = (noun: Noun): string =>
  `${JSON.stringify({ title: noun, ...schemaOf(noun, ({ jsonSchema }) => void delete jsonSchema.additionalProperties) }, undefined, 2)}\n`;

const schemaOf = (noun: Noun, override: (context: { jsonSchema: z.core.JSONSchema.BaseSchema }) => void) =>
  z.toJSONSchema(NOUNS[noun], {
    override(context) {
      const { jsonSchema } = context;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // In a record, additionalProperties is the schema of the values.
      if (jsonSchema.additionalProperties === false) override(context);
    },
  });

const validators = new Map<Noun, ReturnType<typeof ajv.compile>>();

/** The places where the document contradicts the schema; empty if there are none. */
export function contradictions(noun: Noun, document: unknown): string {
  const validate = validators.get(noun) ?? ajv.compile(schemaOf(noun, () => undefined));
  validators.set(noun, validate);
  return validate(document) ? '' : `${noun}: ${ajv.errorsText(validate.errors)}`;
}

/** Builds the schema of job files for editors. */
export function jobSchema(): string {
  const valueOf = ({ kind, values, brief }: Parameter): object => ({
    description: brief,
    ...(kind === 'boolean'
      ? { type: 'boolean' }
      : values
        ? { enum: values }
        : { type: ['string', 'number', 'array', 'object'] }),
  });
  const named = (flags: object): object =>
    Object.fromEntries(Object.entries(flags).map(([flag, row]) => [snake(flag), valueOf(row as Parameter)]));
  const schedule = {
    type: 'object',
    additionalProperties: false,
    required: ['cron'],
    properties: named(WHEN),
  };
  const stage = {
    type: 'array',
    description: 'the stages of a pipeline, [[stage]]; what stands above them counts for each',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'names its batch, after the name of the pipeline' },
        from: { type: 'string', description: 'another stage, whose results are its sheet; or a sheet' },
        pick: { type: 'boolean', description: 'waits until the user picks the rows that it takes' },
        partial: {
          type: 'boolean',
          description: 'begins with the rows that succeeded, although others did not',
        },
        ...named(STAGE_FLAGS),
      },
    },
  };
  const properties = {
    sheet: { type: 'string', description: 'the sheet; its path counts from this file' },
    ...named(JOB_FLAGS),
    stage,
    schedule,
  };
  return `${JSON.stringify({ title: 'job', $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', additionalProperties: false, properties }, undefined, 2)}\n`;
}

type Parameter = { readonly kind: string; readonly brief?: string; readonly values?: readonly string[] };
