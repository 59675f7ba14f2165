// The operations of V1.

import { z } from 'zod';
import { PATHS, runQuerySchema } from '../paths.ts';
import { uploadQuerySchema } from '../upload.ts';
import { json, tooLarge } from './answers.ts';
import { EXAMPLES } from './examples.ts';
import type { Operation } from './operation.ts';
import type { Schemas } from './schemas.ts';

const text401 = { type: 'text/plain', description: 'The token is missing or invalid', schema: z.string() };

export const legacyOperations = (schemas: Schemas): readonly Operation[] => [
  {
    id: 'v1CreateRun',
    base: 'v1',
    method: 'post',
    path: '/run',
    group: 'V1 (legacy)',
    summary: 'Create run',
    description: 'Queue Run of V1. Every invalid request answers 500.',
    body: { type: 'application/json', schema: schemas.V1Order, example: EXAMPLES.order },
    answers: {
      200: json('The run is created', schemas.QueueAnswer, EXAMPLES.queued),
      401: text401,
      413: tooLarge,
      500: json('The request is invalid', schemas.V1Error, { error: 'Invalid request body' }),
    },
  },
  {
    id: 'v1GetRun',
    base: 'v1',
    method: 'get',
    path: '/run',
    group: 'V1 (legacy)',
    summary: 'Get run status',
    description: 'The run in V1 format: without V2 fields, and its outputs without their wrapper.',
    query: runQuerySchema,
    answers: {
      200: json('The run', schemas.V1Run, EXAMPLES.v1Run),
      400: json('The run does not exist or is not yours', schemas.V1NotFound, {
        code: '400',
        message: 'Workflow not found',
      }),
      401: text401,
    },
  },
  {
    id: 'v1UploadUrl',
    base: 'v1',
    method: 'get',
    path: '/upload-url',
    group: 'V1 (legacy)',
    summary: 'Get an upload address',
    description: 'Send the file to upload_url with one PUT.',
    query: uploadQuerySchema,
    answers: {
      200: json('The address', schemas.V1UploadUrl),
      400: json('type or file_size is invalid', schemas.V1Error, { error: 'Invalid type or file_size' }),
      401: text401,
    },
  },
  {
    id: 'v1Profile',
    base: 'v1',
    method: 'get',
    path: PATHS.profile,
    group: 'V1 (legacy)',
    summary: 'Recommended intervals for clients',
    description: 'The same as on the base of V2.',
    answers: { 200: json('The profile', schemas.Profile), 401: text401 },
  },
];
