// The operations that give a file to the service, and that read what a run wrote.

import { z } from 'zod';
import { PATHS, runPathSchema, streamLogsQuerySchema } from '../paths.ts';
import { json, notYours, runNotFound, sentence, withParameters, withToken } from './answers.ts';
import { EXAMPLES } from './examples.ts';
import type { Operation } from './operation.ts';
import type { Schemas } from './schemas.ts';

const form = z.object({ file: z.string().meta({ description: 'the file', format: 'binary' }) });

export const fileAndLogOperations = (schemas: Schemas): readonly Operation[] => [
  {
    id: 'uploadFile',
    base: 'v2',
    method: 'post',
    path: PATHS.upload,
    group: 'Files and logs',
    summary: 'Upload a file',
    description: 'Its address then serves as an input. Images, videos, audio and `application/…` are taken.',
    body: {
      type: 'multipart/form-data',
      schema: form,
      parts: { file: 'image/*, video/*, audio/*, application/*' },
    },
    answers: withToken({
      200: json('The file is there', schemas.Upload, EXAMPLES.upload),
      400: sentence('The file is of another kind, or the form cannot be read', 'Unsupported file type'),
      413: sentence('The file is larger than 250 MiB', 'request file too large'),
      422: json('There is no form, or no file in it', schemas.ValidationFailure, {
        detail: [{ type: 'missing', loc: ['body', 'file'], msg: 'Field required', input: null }],
      }),
    }),
  },
  {
    id: 'getRunLogs',
    base: 'v2',
    method: 'get',
    path: PATHS.runLogs,
    group: 'Files and logs',
    summary: 'Log of a run',
    description:
      'All lines up to now. The only place with the reason of a failure. Empty for a run that is not there, or not yours.',
    params: runPathSchema,
    answers: withParameters({ 200: json('The lines', schemas.Log, EXAMPLES.log) }),
  },
  {
    id: 'streamRunLogs',
    base: 'v2',
    method: 'get',
    path: PATHS.streamLogs,
    group: 'Files and logs',
    summary: 'Log of a run, as it is written',
    description: 'A stream of server-sent events without end: each a line, or a sign of life every second.',
    query: streamLogsQuerySchema,
    answers: withParameters({
      200: {
        type: 'text/event-stream',
        description: 'Events whose data is a LogLine, or `{"type":"keepalive"}`',
        example: EXAMPLES.logStream,
      },
      403: notYours,
      404: runNotFound,
    }),
  },
];
