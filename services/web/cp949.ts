// Korean text as older Windows programs write it (CP949, what Excel exports CSV in). The TextDecoder of Node knows
// EUC-KR only, whose 2,350 syllables lack the rarer ones. CP949 puts the other 8,822 syllables, in Unicode's order, on
// the pairs EUC-KR leaves free: so the whole table follows from the decoder's own.

const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
/** Came to the code later than the decoder's table. */
const LATER = [
  [0xa2e6, "€"],
  [0xa2e7, "®"],
] as const;

/** Characters by `lead * 256 + trail`; made at the first use. */
let table: ReadonlyMap<number, string> | null = null;

/** The text, or null where a byte belongs to no character. */
export function decodeCp949(bytes: Uint8Array): string | null {
  table ??= createTable();
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] ?? 0;
    if (lead < 0x80) {
      parts.push(String.fromCharCode(lead));
      continue;
    }
    at += 1;
    const character = table.get(lead * 256 + (bytes[at] ?? 0));
    if (character === undefined) return null;
    parts.push(character);
  }
  return parts.join("");
}

function createTable(): ReadonlyMap<number, string> {
  const pairs = new Map<number, string>();
  const plain = new TextDecoder("euc-kr", { fatal: true });
  for (let lead = 0xa1; lead <= 0xfe; lead++) {
    for (let trail = 0xa1; trail <= 0xfe; trail++) {
      const character = decodePair(plain, lead, trail);
      if (character !== null) pairs.set(lead * 256 + trail, character);
    }
  }
  for (const [pair, character] of LATER) pairs.set(pair, character);
  const known = new Set(pairs.values());
  const free = freePairs();
  for (let code = FIRST_SYLLABLE; code <= LAST_SYLLABLE; code++) {
    const syllable = String.fromCharCode(code);
    if (known.has(syllable)) continue;
    pairs.set(free.next().value ?? 0, syllable);
  }
  return pairs;
}

/** The pair's one character; the decoder's private-use and unassigned ones stand for nothing that was written. */
function decodePair(decoder: TextDecoder, lead: number, trail: number): string | null {
  try {
    const text = decoder.decode(Uint8Array.of(lead, trail));
    return [...text].length === 1 && !/[\p{Cc}\p{Cn}\p{Co}]/u.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** Pairs outside EUC-KR, in the order CP949 fills them: from 0xA1 on only the trails below EUC-KR's are free. */
function* freePairs(): Generator<number, undefined> {
  for (let lead = 0x81; lead <= 0xc6; lead++) {
    const lastTrail = lead < 0xa1 ? 0xfe : 0xa0;
    for (let trail = 0x41; trail <= lastTrail; trail++) {
      const isBetween = (trail > 0x5a && trail < 0x61) || (trail > 0x7a && trail < 0x81);
      if (!isBetween) yield lead * 256 + trail;
    }
  }
}
