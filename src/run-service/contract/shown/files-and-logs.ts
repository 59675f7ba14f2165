// What the log of a run and the upload of a file look like.

import { z } from 'zod';
import { date, text, textOrNull, uuid } from './fields.ts';

const level = z.enum(['info', 'error', 'webhook']).meta({
  description: '`error` gives the reason of a failure, `webhook` each try to tell the webhook',
});

export const logShown = z.array(
  z.strictObject({
    run_id: uuid('the run that the line is about'),
    timestamp: date('when it was written'),
    log: text('the line'),
    user_id: text('whose run it is'),
    org_id: textOrNull('whose organisation that is'),
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
  file_name: text('its name, as it was given'),
  file_url: z.url().meta({ description: 'where it is fetched, without a token; good as an input' }),
});

export const v1UploadUrlShown = z.strictObject({
  upload_url: z.url().meta({ description: 'where the file is put, once and without a token' }),
  file_id: text('identifier of the file'),
  download_url: z.url().meta({ description: 'where it is fetched' }),
});
