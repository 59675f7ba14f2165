// The operations for uploads and logs.

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
    description: 'Its address can be used as an input. Accepts images, videos, audio and `application/…`.',
    body: {
      type: 'multipart/form-data',
      schema: form,
      parts: { file: 'image/*, video/*, audio/*, application/*' },
    },
    answers: withToken({
      200: json('The file was stored', schemas.Upload, EXAMPLES.upload),
      400: sentence('The file has an unsupported type, or the form is invalid', 'Unsupported file type'),
      413: sentence('The file is larger than 250 MiB', 'request file too large'),
      422: json('The form or its file is missing', schemas.ValidationFailure, {
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
      'All lines up to now. The only place with the reason of a failure. Empty for a run that does not exist or is not yours.',
    params: runPathSchema,
    answers: withParameters({ 200: json('The lines', schemas.Log, EXAMPLES.log) }),
  },
  {
    id: 'streamRunLogs',
    base: 'v2',
    method: 'get',
    path: PATHS.streamLogs,
    group: 'Files and logs',
    summary: 'Log of a run, as a stream',
    description: 'An endless stream of server-sent events: log lines, and a keep-alive every second.',
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
