// Images by their first bytes: kind and size, and what is none.

import { describe, expect, test } from "vitest";
import { imageHeaderOf, imageTypeOf } from "../../../../services/core/image-header.ts";

const bytes = (...hex: readonly string[]): Uint8Array =>
  Uint8Array.from(Buffer.from(hex.join("").replace(/ /g, ""), "hex"));
const ascii = (text: string): string => Buffer.from(text, "latin1").toString("hex");

const PNG = bytes("89504e470d0a1a0a", "0000000d", ascii("IHDR"), "00000280 000001e0");
const GIF = bytes(ascii("GIF89a"), "8002 e001");
const WEBP_HEAD = [ascii("RIFF"), "00000000", ascii("WEBP")] as const;
const LOSSY = bytes(...WEBP_HEAD, ascii("VP8 "), "00000000", "000000 9d012a", "8002 e001");
// 640 x 480, each less one, in 14 bits.
const LOSSLESS = bytes(...WEBP_HEAD, ascii("VP8L"), "00000000", "2f", "7fc27700");
const EXTENDED = bytes(...WEBP_HEAD, ascii("VP8X"), "0a000000", "00000000", "7f0200 df0100");
// An application part, a filler, a table of Huffman codes, then the frame.
const JPEG = bytes("ffd8", "ffe0 0004 0000", "ffff", "c4 0003 00", "ffc2 0011 08 01e0 0280 03");

describe("of each kind", () => {
  test.each([
    ["image/png", PNG],
    ["image/gif", GIF],
    ["image/webp", LOSSY],
    ["image/webp", LOSSLESS],
    ["image/webp", EXTENDED],
    ["image/jpeg", JPEG],
  ])("%s tells its size", (mediaType, image) => {
    expect(imageHeaderOf(image)).toEqual({ mediaType, width: 640, height: 480 });
  });

  test.each([PNG, GIF, LOSSY, LOSSLESS, EXTENDED, JPEG])(
    "one that is cut anywhere is none, and nothing is thrown",
    (image) => {
      for (let length = 0; length < image.length - 2; length++)
        expect(imageHeaderOf(image.subarray(0, length))).toBe(null);
    },
  );
});

test("a part of a larger buffer is read as it is", () => {
  expect(imageHeaderOf(Buffer.concat([Buffer.alloc(7), PNG]).subarray(7))).toMatchObject({ width: 640 });
});

test("what is none of those is none: SVG, text, a JPEG that never says its size", () => {
  expect(imageTypeOf(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"))).toBe(null);
  expect(imageTypeOf(Buffer.from("GIF is a word"))).toBe(null);
  expect(imageHeaderOf(bytes("ffd8", "ffda", "0000".repeat(20)))).toBe(null);
  expect(imageHeaderOf(bytes("ffd8", "ff".repeat(100_000)))).toBe(null);
});

test("a side of nothing is none", () => {
  expect(imageHeaderOf(bytes(ascii("GIF89a"), "0000 e001"))).toBe(null);
});
