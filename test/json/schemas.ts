// The JSON Schemas of the nouns, as docs/json has them, and as the tests use them: without unknown fields.

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';
import { NOUNS, type Noun } from '../../src/cli/json/nouns.ts';

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
      // Of a record, it is the schema of the values.
      if (jsonSchema.additionalProperties === false) override(context);
    },
  });

const validators = new Map<Noun, ReturnType<typeof ajv.compile>>();

/** What contradicts the schema; empty: nothing. */
export function contradictions(noun: Noun, document: unknown): string {
  const validate = validators.get(noun) ?? ajv.compile(schemaOf(noun, () => undefined));
  validators.set(noun, validate);
  return validate(document) ? '' : `${noun}: ${ajv.errorsText(validate.errors)}`;
}
