// An upload: a recording that is sent in one request or, resumable, in several.

import { z } from "zod";
import { count, id, instant, text } from "./parts.ts";

export const upload = z.object({
  uploadId: id,
  id,
  name: text,
  bytes: count.nullable(),
  offset: count,
  complete: z.boolean(),
  mediaType: text.nullable(),
  sha256: text.nullable(),
  createdAt: instant,
});
export type Upload = z.infer<typeof upload>;

export const newUpload = z.object({ name: text, bytes: z.int().min(1) });
