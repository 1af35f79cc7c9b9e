// What a regular expression costs: a backtracking matcher that counts its steps, and texts made of the pattern's own
// characters. Not the engine's own count, but of the same order: what backtracks here backtracks there.

type Next = (at: number) => boolean;
type Node = (at: number, next: Next) => boolean;

/** Steps beyond which a pattern is refused without waiting for its end. */
const MOST_STEPS = 400_000;
class TooMany extends Error {}

interface Compiled {
  /** Steps of a search over the text: from every place where it may begin, and again after each match when global. */
  steps(text: string): number;
  /** Characters that some part of the pattern matches, its literal ones first. */
  readonly samples: readonly string[];
  /** Characters that some part refuses by name. */
  readonly refused: readonly string[];
}

const CANDIDATES = [..."a0 _-.\n/\\\"'`[]{}()$:;,@#=<>|*~%&가A"];

/** Compiles `source` as a matcher that counts. */
export function compile(source: string, flags: string): Compiled {
  let text = "";
  let steps = 0;
  let place = 0;
  const samples = new Set<string>();
  const refused = new Set<string>();
  const unit = flags.replace(/[gydm]/g, "");

  function count(): void {
    steps += 1;
    if (steps > MOST_STEPS) throw new TooMany();
  }

  function atom(piece: string): Node {
    const one = new RegExp(`^(?:${piece})$`, unit);
    if (piece.length === 1) samples.add(piece);
    else for (const sample of CANDIDATES.filter((char) => one.test(char)).slice(0, 3)) samples.add(sample);
    if (piece.startsWith("[^")) for (const char of CANDIDATES) if (!one.test(char)) refused.add(char);
    const known = new Map<string, boolean>();
    return (at, next) => {
      count();
      if (at >= text.length) return false;
      const char = text[at] ?? "";
      const fits = known.get(char) ?? one.test(char);
      known.set(char, fits);
      return fits && next(at + 1);
    };
  }

  function alternatives(): Node {
    const all = [sequence()];
    while (source[place] === "|") {
      place += 1;
      all.push(sequence());
    }
    return all.length === 1 ? (all[0] as Node) : (at, next) => all.some((one) => one(at, next));
  }

  function sequence(): Node {
    const parts: Node[] = [];
    while (place < source.length && source[place] !== "|" && source[place] !== ")") parts.push(quantified());
    return (at, next) => {
      const from = (index: number, here: number): boolean =>
        index === parts.length ? next(here) : (parts[index] as Node)(here, (after) => from(index + 1, after));
      return from(0, at);
    };
  }

  function quantified(): Node {
    const one = single();
    const found = /^(?:[*+?]|\{(\d+)(,(\d*))?\})(\??)/.exec(source.slice(place, place + 20));
    if (found === null) return one;
    place += found[0].length;
    const sign = found[0][0];
    const least = sign === "+" ? 1 : sign === "{" ? Number(found[1]) : 0;
    const most =
      sign === "?" ? 1 : sign === "{" ? (found[2] === undefined ? least : Number(found[3] || Infinity)) : Infinity;
    const lazy = found[4] === "?";
    return (at, next) => {
      const repeat = (times: number, here: number): boolean => {
        const more = () => times < most && one(here, (after) => after > here && repeat(times + 1, after));
        const enough = () => times >= least && next(here);
        return lazy ? enough() || more() : more() || enough();
      };
      return repeat(0, at);
    };
  }

  function single(): Node {
    const rest = source.slice(place);
    const group = /^\((\?:|\?=|\?!|\?<=|\?<!|\?<[^>]*>)?/.exec(rest);
    if (group) {
      place += group[0].length;
      const inner = alternatives();
      place += 1;
      const kind = group[1] ?? "";
      if (kind === "?=" || kind === "?!") {
        return (at, next) => inner(at, () => true) === (kind === "?=") && next(at);
      }
      // What lies behind is short in all our patterns: it costs its one look.
      if (kind === "?<=" || kind === "?<!") return (at, next) => next(at);
      return inner;
    }
    const piece = /^(?:\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\x..|\\u....|\\.|.)/su.exec(rest)?.[0] ?? "";
    place += piece.length;
    if (piece === "^") {
      return (at, next) => (at === 0 || (flags.includes("m") && text[at - 1] === "\n")) && next(at);
    }
    if (piece === "$") {
      return (at, next) => (at === text.length || (flags.includes("m") && text[at] === "\n")) && next(at);
    }
    // A word's border or an earlier group's text may be anywhere: passed, as the worst case.
    if (/^\\[bB1-9]$/.test(piece)) return (at, next) => next(at);
    return atom(piece);
  }

  const whole = alternatives();
  const isAnchored = /^\^/.test(source) && !flags.includes("m") && !source.includes("|");
  return {
    samples: [...samples],
    refused: [...refused],
    steps(given) {
      text = given;
      steps = 0;
      let end = -1;
      try {
        for (let from = 0; from <= text.length; from = Math.max(from + 1, end)) {
          const matched = whole(from, (at) => {
            end = at;
            return true;
          });
          if (isAnchored || flags.includes("y") || (matched && !flags.includes("g"))) break;
        }
      } catch (error) {
        if (!(error instanceof TooMany) && !(error instanceof RangeError)) throw error;
        return MOST_STEPS;
      }
      return steps;
    },
  };
}

const N = 32;

/** Texts made of the samples, n characters long each: one or two of them over and over, with and without a lead and an end. */
function* attacks({ samples, refused }: Compiled, n: number): Generator<string> {
  const few = samples.slice(0, 7);
  const leads = ["", ...few.slice(0, 3), few.slice(0, 3).join("")];
  const bodies = [...few, ...few.flatMap((one) => few.map((two) => one + two)), few.slice(0, 4).join("")].filter(
    (one) => one !== "",
  );
  for (const body of bodies) {
    const long = body.repeat(Math.ceil(n / body.length)).slice(0, n);
    for (const lead of leads) for (const end of ["", "\u0001", ...refused.slice(0, 2)]) yield lead + long + end;
  }
}

/** The text on which the pattern's steps more than double when it is twice as long, or null. */
export function worstGrowth(source: string, flags: string): { readonly text: string; readonly ratio: number } | null {
  // Without an unbounded part there is nothing to grow.
  if (!/[*+]|,\}/.test(source)) return null;
  const compiled = compile(source, flags);
  const { steps } = compiled;
  const [short, long] = [[...attacks(compiled, N)], [...attacks(compiled, 2 * N)]];
  for (const [index, text] of long.entries()) {
    const twice = steps(text);
    // Of a few steps the ratio says nothing.
    if (twice < 700) continue;
    const ratio = twice / Math.max(1, steps(short[index] ?? ""));
    if (ratio > 2.6 || twice >= MOST_STEPS) return { text: text.slice(0, 12), ratio };
  }
  return null;
}
