import { expect, test } from "vitest";
import { createThinkTags } from "../../../../services/model/think-tags.ts";

/** Pushes the text in pieces of `size` characters. */
function read(text: string, size: number): { thought: string; text: string } {
  const tags = createThinkTags();
  const said = { thought: "", text: "" };
  const take = (part: { thought: string; text: string }) => {
    said.thought += part.thought;
    said.text += part.text;
  };
  for (let at = 0; at < text.length; at += size) take(tags.push(text.slice(at, at + size)));
  take(tags.end());
  return said;
}

test.each([
  ["<think>hmm\n</think>\n\nSix.", "hmm\n", "Six."],
  ["\n<think>a</think> <think>b</think>Six.", "ab", "Six."],
  ["<think></think>Six.", "", "Six."],
  ["<think>never ends </thin", "never ends </thin", ""],
  ["  Six.", "", "  Six."],
  ["The tag <think> begins a thought.</think>", "", "The tag <think> begins a thought.</think>"],
  ["<thinner>", "", "<thinner>"],
  ["<th", "", "<th"],
  ["", "", ""],
])("%j is the same wherever it is cut", (whole, thought, text) => {
  for (let size = 1; size <= whole.length + 1; size++) expect(read(whole, size)).toEqual({ thought, text });
});
