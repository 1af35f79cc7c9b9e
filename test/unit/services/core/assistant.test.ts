// What an assistant may use.

import { expect, test } from "vitest";
import { type Assistant, CHAT_TOOLS, mayUse, sourcesOf } from "../../../../services/core/assistant.ts";

const ANY: Assistant = {
  name: "Any",
  instructions: "",
  model: null,
  temperature: null,
  tools: null,
  dataSources: null,
};

const toolsOf = (assistant: Assistant | null, sources: readonly string[]) =>
  CHAT_TOOLS.filter((tool) => mayUse(assistant, tool, sources));

test("without an assistant, or with one that names nothing, every tool and data source is there", () => {
  for (const assistant of [null, ANY]) {
    expect(sourcesOf(assistant, ["sales", "hr"])).toEqual(["sales", "hr"]);
    expect(toolsOf(assistant, [])).toEqual(CHAT_TOOLS);
  }
});

test("an assistant has the tools and data sources it names, those that are still there", () => {
  const one = { ...ANY, tools: ["run_sql"], dataSources: ["hr", "gone"] };
  expect(sourcesOf(one, ["sales", "hr"])).toEqual(["hr"]);
  expect(toolsOf(one, ["hr"])).toEqual(["run_sql"]);
});

test("one that may ask no data source has no tool for them", () => {
  expect(toolsOf({ ...ANY, dataSources: [] }, [])).toEqual(["search_transcripts"]);
});
