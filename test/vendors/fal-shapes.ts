// The catalogue of fal with the schema of a model, and wrong inputs in the words of a model.

import { INPUT_SCHEMA, type InputFault } from './model-inputs.ts';

/** The answer of `GET /v1/models?endpoint_id=…&expand=openapi-3.0`. */
export function modelsOf(model: string): object {
  const schemas = { PainterInput: INPUT_SCHEMA };
  const schema = { $ref: '#/components/schemas/PainterInput' };
  const post = { requestBody: { required: true, content: { 'application/json': { schema } } } };
  const openapi = { openapi: '3.0.4', paths: { [`/${model}`]: { post } }, components: { schemas } };
  const metadata = { category: 'text-to-image', status: 'active' };
  return { models: [{ endpoint_id: model, metadata, openapi }], has_more: false, next_cursor: null };
}

export function shownFault({ kind, field, bound }: InputFault): object {
  const types = {
    missing: 'missing',
    type: 'value_error',
    least: 'greater_than_equal',
    most: 'less_than_equal',
    enum: 'literal_error',
  };
  const msg =
    kind === 'missing'
      ? 'Field required'
      : `Input is wrong${bound === undefined ? '' : `: ${String(bound)}`}`;
  return { loc: ['body', field], msg, type: types[kind] };
}
