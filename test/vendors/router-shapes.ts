// The error buckets of Comfy Router with their usual status, and the OpenAPI document of a model.

import { INPUT_SCHEMA, type InputFault } from './model-inputs.ts';

export const STATUSES = {
  invalid_input: 400,
  unauthorized: 401,
  insufficient_credits: 402,
  not_enabled: 403,
  model_not_found: 404,
  request_not_found: 404,
  cancelled: 409,
  concurrency_limit_exceeded: 429,
  queue_backlog_full: 429,
  provider_error: 502,
  deadline_exceeded: 504,
} as const satisfies Readonly<Record<string, number>>;
export type ErrorType = keyof typeof STATUSES;

export function openapiOf(model: string): object {
  const content = { 'application/json': { schema: INPUT_SCHEMA } };
  const output = {
    type: 'object',
    properties: { result: { type: 'object', properties: { sample: { type: 'string' } } } },
  };
  const post = {
    operationId: 'runRouterModel',
    'x-comfy-input-schema-authored': true,
    requestBody: { required: true, content },
    responses: { '200': { description: 'OK', content: { 'application/json': { schema: output } } } },
  };
  return {
    openapi: '3.0.3',
    info: { title: model, version: '2' },
    paths: { [`/v2/models/${model}`]: { post } },
  };
}

export function shownFault({ kind, field, bound }: InputFault): object {
  const types = {
    missing: 'missing',
    type: 'type_error',
    least: 'greater_than_equal',
    most: 'less_than_equal',
    enum: 'enum',
  };
  const ctx = bound === undefined ? {} : { ctx: { limit_value: bound } };
  return {
    loc: ['body', field],
    msg: kind === 'missing' ? 'Field required' : 'Invalid value',
    type: types[kind],
    ...ctx,
  };
}
