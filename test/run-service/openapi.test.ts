// The OpenAPI document of the run service.

import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { operationsOf } from '../../src/run-service/operations.ts';
import { openService } from './asking.ts';

type Described = {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
  readonly responses: Readonly<Record<string, object>>;
};
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> };

const OPERATIONS = operationsOf('specification').filter(({ route }) => route.includes(' /api/'));

async function openDocument(): Promise<Document> {
  const { ask } = await openService();
  const { status, json } = await ask('GET', '/api/openapi.json');
  expect(status).toBe(200);
  return json as unknown as Document;
}

describe('the OpenAPI document', () => {
  it('is a valid one', async () => {
    const { valid, errors } = await new Validator().validate(await openDocument());
    expect([valid, errors]).toEqual([true, undefined]);
  });

  it('has exactly the operations of the service, each with its answers and where it reads what', async () => {
    const { paths } = await openDocument();
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
        Object.keys(operation.responses),
        operation.requestBody !== undefined,
        new Set(operation.parameters?.map((parameter) => parameter.in)),
      ]),
    );
    const expected = OPERATIONS.map(({ route, answers, body, params, query }) => [
      route,
      Object.keys(answers),
      body !== undefined,
      new Set([...(params ? ['path'] : []), ...(query ? ['query'] : [])]),
    ]);
    const byRoute = (routes: readonly (readonly unknown[])[]) =>
      new Map(routes.map(([route, ...facts]) => [route, facts]));
    expect(byRoute(described)).toEqual(byRoute(expected));
  });

  it('names the fields of a request, and which of them are required', async () => {
    const { paths } = await openDocument();
    const { requestBody } = paths['/api/run/deployment/queue']?.['post'] ?? {};
    expect(requestBody?.content['application/json']?.schema).toMatchObject({
      required: ['deployment_id'],
      properties: { deployment_id: { type: 'string', format: 'uuid' }, inputs: { type: 'object' } },
    });
    const { parameters = [] } = paths['/api/deployment/{deployment_id}/runs']?.['get'] ?? {};
    expect(parameters).toContainEqual(
      expect.objectContaining({
        name: 'limit',
        schema: expect.objectContaining({ type: 'integer', minimum: 1, maximum: 10_000, default: 60 }),
      }),
    );
  });
});
