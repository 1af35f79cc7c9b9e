// Which clients a new release gets first: each keeps its side by a cookie; who has none is given one, evenly. Pure.

const COOKIE = "owl-share";

export type Side = "new" | "old";

/** The side its cookie names, read off the head of its request; null: it has none of this rollout's. */
export function keptSide(head: string, name: string): Side | null {
  const wanted = `${COOKIE}=${name}.`;
  const at = head.indexOf(wanted);
  if (at < 0) return null;
  const said = head.slice(at + wanted.length, at + wanted.length + 3);
  return said === "new" || said === "old" ? said : null;
}

/** The header line that keeps it there until the browser is closed. */
export function cookieLine(name: string, side: Side): string {
  return `Set-Cookie: ${COOKIE}=${name}.${side}; Path=/; HttpOnly; SameSite=Lax\r\n`;
}

/** Deals clients without a cookie: of every hundred the part, spread evenly. */
export function createDealer(part: number): () => Side {
  let sum = 0;
  return () => {
    sum += part;
    if (sum < 1) return "old";
    sum -= 1;
    return "new";
  };
}
