// The kinds of value owl.yaml has, each with what it expects in words, its parsed form and its JSON Schema.
// Invariant: a value is either parsed or refused with expected and got; nothing is guessed.

import { isIP } from "node:net";
import { z } from "zod";
import type { ListenAddress } from "./config.ts";
import type { QuietHours } from "./notify-config.ts";
import { pictureOf } from "./problems.ts";
import { DURATION_PATTERN, parseDuration, parseSize, SIZE_PATTERN } from "./units.ts";

type Parsed<T> = { readonly value: T } | null;

/** A leaf whose value `parse` turns into T; null from `parse` is refused as "expected …, got …". */
export function leaf<T>(expected: string, json: Readonly<Record<string, unknown>>, parse: (raw: unknown) => Parsed<T>) {
  return z
    .unknown()
    .transform((raw, context): T => {
      const parsed = parse(raw);
      if (parsed !== null) return parsed.value;
      context.addIssue({ code: "custom", message: `expected ${expected}, got ${pictureOf(raw)}` });
      return z.NEVER;
    })
    .meta({ description: expected, ...json });
}

/** Like leaf, for secrets: a refusal never shows the value. */
export function secretLeaf(expected: string) {
  return z
    .unknown()
    .transform((raw, context): string => {
      if (typeof raw === "string" && raw !== "") return raw;
      context.addIssue({
        code: "custom",
        message: `expected ${expected}, got ${typeof raw === "string" ? "an empty text" : `a ${typeof raw}`}`,
      });
      return z.NEVER;
    })
    .meta({ description: expected, type: "string" });
}

/** A duration in ms. A bare number is refused and shown with its two likely meanings. */
export const duration = z
  .unknown()
  .transform((raw, context): number => {
    const ms = typeof raw === "string" ? parseDuration(raw.trim()) : null;
    if (ms !== null) return ms;
    const hint = typeof raw === "number" && raw >= 0 ? `; a duration needs its unit: ${raw}s (or ${raw}ms)` : "";
    context.addIssue({
      code: "custom",
      message: `expected a duration such as 500ms, 30s or 5m, got ${pictureOf(raw)}${hint}`,
    });
    return z.NEVER;
  })
  .meta({ description: "duration: 500ms, 30s, 5m, 1h", type: "string", pattern: DURATION_PATTERN });

/** How long something is kept, in ms; null: for ever. */
export const kept = leaf<number | null>(
  "how long it is kept, such as 90d, or forever",
  { type: "string", pattern: `^forever$|${DURATION_PATTERN}` },
  (raw) => {
    if (raw === "forever") return { value: null };
    const ms = typeof raw === "string" ? parseDuration(raw.trim()) : null;
    return ms === null || ms < 3_600_000 || ms > MOST_KEPT_MS ? null : { value: ms };
  },
);
/** A century: what the database can take from a date. */
const MOST_KEPT_MS = 36_500 * 86_400_000;

/** Hours of the day in a zone of the tz database; without one in the machine's own. */
export const quietHours = leaf<QuietHours>(
  'hours of the day such as "22:00-07:00" or "22:00-07:00 Asia/Seoul"',
  { type: "string" },
  (raw) => {
    const found = typeof raw === "string" ? /^(\d\d):(\d\d)-(\d\d):(\d\d)(?: (\S{1,64}))?$/.exec(raw) : null;
    if (found === null) return null;
    const [fromHour = 0, fromPart = 0, untilHour = 0, untilPart = 0] = found.slice(1, 5).map(Number);
    if (fromHour > 23 || untilHour > 23 || fromPart > 59 || untilPart > 59) return null;
    const [fromMinute, untilMinute] = [fromHour * 60 + fromPart, untilHour * 60 + untilPart];
    const zone = zoneNamed(found[5]);
    return zone === null || fromMinute === untilMinute ? null : { value: { fromMinute, untilMinute, zone } };
  },
);

function zoneNamed(name: string | undefined): string | null {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** A size in bytes. */
export const size = z
  .unknown()
  .transform((raw, context): number => {
    const bytes = typeof raw === "string" ? parseSize(raw.trim()) : null;
    if (bytes !== null) return bytes;
    const hint = typeof raw === "number" && raw >= 0 ? `; a size needs its unit: ${raw}MiB (or ${raw}B)` : "";
    context.addIssue({
      code: "custom",
      message: `expected a size such as 16KiB, 10MiB or 1GiB, got ${pictureOf(raw)}${hint}`,
    });
    return z.NEVER;
  })
  .meta({ description: "size: 16KiB, 10MiB, 1GiB", type: "string", pattern: SIZE_PATTERN });

/** A whole number within bounds. */
export function whole(least: number, most: number) {
  return leaf(`a whole number from ${least} to ${most}`, { type: "integer", minimum: least, maximum: most }, (raw) =>
    typeof raw === "number" && Number.isInteger(raw) && raw >= least && raw <= most ? { value: raw } : null,
  );
}

/** A part of a whole, above 0 and at most 1. */
export const share = leaf(
  "a number above 0 and at most 1",
  { type: "number", exclusiveMinimum: 0, maximum: 1 },
  (raw) => (typeof raw === "number" && raw > 0 && raw <= 1 ? { value: raw } : null),
);

/** A part of the whole, 0 to 1, written as a percentage. */
export const percentage = leaf(
  "a percentage such as 5%",
  { type: "string", pattern: "^\\d{1,3}(\\.\\d+)?%$" },
  (raw) => {
    const found = typeof raw === "string" ? /^(\d{1,3}(?:\.\d+)?)%$/.exec(raw.trim()) : null;
    return found !== null && Number(found[1]) <= 100 ? { value: Number(found[1]) / 100 } : null;
  },
);

/** How many times something may be another. */
export const times = leaf("a factor from 1x to 1000x", { type: "string", pattern: "^\\d{1,4}(\\.\\d+)?x$" }, (raw) => {
  const found = typeof raw === "string" ? /^(\d{1,4}(?:\.\d+)?)x$/.exec(raw.trim()) : null;
  return found !== null && Number(found[1]) >= 1 && Number(found[1]) <= 1_000 ? { value: Number(found[1]) } : null;
});

/** A non-empty text. */
export function text(expected: string) {
  return leaf(expected, { type: "string", minLength: 1 }, (raw) =>
    typeof raw === "string" && raw.trim() !== "" ? { value: raw } : null,
  );
}

/** true or false. */
export const flag = leaf("true or false", { type: "boolean" }, (raw) =>
  typeof raw === "boolean" ? { value: raw } : null,
);

/** One of a few words. */
export function oneOf<const T extends readonly string[]>(words: T) {
  return leaf<T[number]>(`one of ${words.join(", ")}`, { enum: [...words] }, (raw) =>
    typeof raw === "string" && words.includes(raw) ? { value: raw } : null,
  );
}

/** argv: a list of texts, the first not empty. Numbers are taken as their text, as YAML would print them. */
export function argv(example: string) {
  return leaf<readonly string[]>(
    `a list of arguments such as ${example}`,
    { type: "array", items: { type: "string" }, minItems: 1 },
    (raw) => {
      if (!Array.isArray(raw) || raw.length === 0) return null;
      const words = raw.map((word) => (typeof word === "number" || typeof word === "boolean" ? String(word) : word));
      return words.every((word) => typeof word === "string" && !word.includes("\0")) && words[0].trim() !== ""
        ? { value: words }
        : null;
    },
  );
}

/** A name that a certificate can have. */
export const domain = leaf("a domain such as owl.example.org or *.example.org", { type: "string" }, (raw) => {
  const name = typeof raw === "string" ? raw.trim().toLowerCase() : "";
  const labels = name.replace(/^\*\./, "").split(".");
  const fits = labels.length > 1 && name.length <= 253 && labels.every((label) => /^[a-z0-9-]{1,63}$/.test(label));
  return fits && isIP(name) === 0 ? { value: name } : null;
});

/** `host:port` or `[v6]:port`; null when it is neither. */
function parseListen(raw: string): ListenAddress | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(raw.trim());
  if (match === null) return null;
  const host = match[1] ?? match[2] ?? "";
  const port = Number(match[3]);
  if (port < 1 || port > 65_535 || (match[1] !== undefined && isIP(host) !== 6)) return null;
  return { host, port };
}

export const listenAddress = leaf<ListenAddress>(
  'an address such as "127.0.0.1:8080" or "[::]:8080"',
  { type: "string" },
  (raw) => {
    const address = typeof raw === "string" ? parseListen(raw) : null;
    return address === null ? null : { value: address };
  },
);

/** One address or a list of them. */
export const listenAddresses = leaf<readonly ListenAddress[]>(
  'an address such as "127.0.0.1:8080" (or a list of them)',
  { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }] },
  (raw) => {
    const list = (Array.isArray(raw) ? raw : [raw]).map((one) => (typeof one === "string" ? parseListen(one) : null));
    const whole = list.filter((one) => one !== null);
    return list.length > 0 && whole.length === list.length ? { value: whole } : null;
  },
);

/** A CIDR network or a single address. */
export const network = leaf("a network such as 10.0.0.0/8", { type: "string" }, (raw) => {
  return typeof raw === "string" && isNetworkText(raw) ? { value: raw } : null;
});

function isNetworkText(raw: string): boolean {
  const [address = "", bits] = raw.split("/");
  const version = isIP(address);
  const most = version === 4 ? 32 : 128;
  const width = bits === undefined ? most : Number(bits);
  return version !== 0 && Number.isInteger(width) && width >= 0 && width <= most;
}

/** What the HTTP tool may reach besides the public Internet: a host, host:port, an address or a network. */
export const reachable = leaf(
  "a host, host:port, an address or a network such as tickets.example.org, 127.0.0.1:8080 or 10.0.0.0/8",
  { type: "string" },
  (raw) => {
    if (typeof raw !== "string") return null;
    const isNetwork = isIP(raw.split("/")[0] ?? "") !== 0;
    if (isNetwork) return isNetworkText(raw) ? { value: raw } : null;
    return parseListen(raw) !== null || /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$/.test(raw) ? { value: raw } : null;
  },
);

/** Octal digits as text: a YAML number would have lost its leading zero's meaning. */
export const umask = leaf(
  'octal digits in quotes such as "0027"',
  { type: "string", pattern: "^0?[0-7]{3}$" },
  (raw) => (typeof raw === "string" && /^0?[0-7]{3}$/.test(raw) ? { value: Number.parseInt(raw, 8) } : null),
);
