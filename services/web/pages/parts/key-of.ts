// The idempotency key of something new: pressed twice it is made once, written differently it is another one.

import { useRef } from "preact/hooks";
import { browserRandom } from "../browser-time.ts";

/** A function from a request's body to its key, which stays as long as the body does. */
export function useKeyOf(): (body: unknown) => string {
  const last = useRef({ text: "", key: "" });
  return (body) => {
    const text = JSON.stringify(body);
    if (text !== last.current.text) last.current = { text, key: browserRandom.uuid() };
    return last.current.key;
  };
}
