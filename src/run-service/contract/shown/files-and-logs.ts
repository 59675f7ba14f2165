// The exact schemas of logs and uploads.

import { z } from 'zod';
import { date, text, textOrNull, uuid } from './fields.ts';

const level = z.enum(['info', 'error', 'webhook']).meta({
  description: '`error` gives the reason of a failure, `webhook` each delivery of the webhook',
});

export const logShown = z.array(
  z.strictObject({
    run_id: uuid('the run that the line belongs to'),
    timestamp: date('when it was written'),
    log: text('the line'),
    user_id: text('the owner of the run'),
    org_id: textOrNull('the organisation of the owner'),
    log_type: level,
  }),
);

/** The data of one event of the stream. */
export const logLineShown = z.strictObject({
  message: text('the line'),
  level,
  timestamp: date('when it was written'),
});
export const keepaliveShown = z.strictObject({ type: z.literal('keepalive') });

export const uploadShown = z.strictObject({
  message: z.literal('File uploaded successfully'),
  file_id: text('identifier of the file'),
  file_name: text('its original name'),
  file_url: z.url().meta({ description: 'its address, which needs no token; usable as an input' }),
});

export const v1UploadUrlShown = z.strictObject({
  upload_url: z.url().meta({ description: 'the address for one upload, without a token' }),
  file_id: text('identifier of the file'),
  download_url: z.url().meta({ description: 'its download address' }),
});
