// Files that a client uploads, to use their addresses as inputs.

import { z } from 'zod';
import type { Shown } from './shown/fields.ts';
import type { uploadShown, v1UploadUrlShown } from './shown/files-and-logs.ts';

type Upload = { readonly id: string; readonly name: string; readonly url: string };

/** The answer of the file upload. */
export const uploadToWire = ({ id, name, url }: Upload): Shown<typeof uploadShown> => ({
  message: 'File uploaded successfully',
  file_id: id,
  file_name: name,
  file_url: url,
});

/** Where the service stored an uploaded file. */
export const uploadedSchema = z.object({ file_url: z.string() }).transform((wire) => wire.file_url);

/** V1 returns an address to which the client uploads the file. */
const UPLOAD_TYPES_V1 = [
  'image/png',
  'image/jpg',
  'image/jpeg',
  'image/webp',
  'video/mp4',
  'video/webm',
  'application/octet-stream',
] as const;
export const UPLOAD_BYTES_MAX_V1 = 50 * 1024 * 1024;

export const uploadQuerySchema = z
  .object({
    type: z.enum(UPLOAD_TYPES_V1),
    file_size: z.coerce.number().int().min(1).max(UPLOAD_BYTES_MAX_V1),
  })
  .transform((wire) => ({ type: wire.type, bytes: wire.file_size }));

export const uploadUrlToWire = (upload: {
  readonly id: string;
  readonly url: string;
}): Shown<typeof v1UploadUrlShown> => ({
  upload_url: upload.url,
  file_id: upload.id,
  download_url: upload.url,
});
