// What an image says of itself in its first bytes: kind and size, without decoding any of it. Pure. Invariants: only what
// every browser and vision model shows and what holds no code (never SVG); linear cost.

const MEDIA_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof MEDIA_TYPES)[number];

interface ImageHeader {
  readonly mediaType: ImageType;
  readonly width: number;
  readonly height: number;
}

/** Do the bytes begin as one of those? A few of them are enough. */
export function imageTypeOf(bytes: Uint8Array): ImageType | null {
  const begins = (text: string, at = 0) => [...text].every((one, n) => bytes[at + n] === one.charCodeAt(0));
  if (begins("\x89PNG\r\n\x1a\n")) return "image/png";
  if (begins("\xff\xd8\xff")) return "image/jpeg";
  if (begins("GIF87a") || begins("GIF89a")) return "image/gif";
  return begins("RIFF") && begins("WEBP", 8) ? "image/webp" : null;
}

/** Null: it is none of those, or its header is cut or says nothing sensible. */
export function imageHeaderOf(bytes: Uint8Array): ImageHeader | null {
  const mediaType = imageTypeOf(bytes);
  if (mediaType === null) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const [width, height] = SIZES[mediaType](view);
    return width > 0 && height > 0 ? { mediaType, width, height } : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

type Size = readonly [width: number, height: number];

/** Each throws a RangeError where the bytes end before it knows. */
const SIZES: Readonly<Record<ImageType, (view: DataView) => Size>> = {
  "image/png": (view) => [view.getUint32(16), view.getUint32(20)],
  "image/gif": (view) => [view.getUint16(6, true), view.getUint16(8, true)],
  "image/webp": webpSize,
  "image/jpeg": jpegSize,
};

function webpSize(view: DataView): Size {
  const threeBytes = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
  switch (view.getUint32(12)) {
    case 0x56503820: // "VP8 "
      return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
    case 0x5650384c: {
      // "VP8L": 14 bits each, less one.
      const bits = view.getUint32(21, true);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case 0x56503858: // "VP8X"
      return [threeBytes(24) + 1, threeBytes(27) + 1];
    default:
      return [0, 0];
  }
}

function jpegSize(view: DataView): Size {
  for (let at = 2; ; ) {
    if (view.getUint8(at) !== 0xff) return [0, 0];
    const marker = view.getUint8(at + 1);
    // 0xff may fill the way to a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    // The picture itself has begun, or ended, without a size.
    if (marker === 0xda || marker === 0xd9) return [0, 0];
    at += 2 + Math.max(2, view.getUint16(at + 2));
  }
}
