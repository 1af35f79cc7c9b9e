import { expect, test } from "vitest";
import { createCondition } from "../../../../supervisor/process/condition.ts";

test("waiting ends when the test holds, at once or after a change", async () => {
  const condition = createCondition();
  let ready = false;
  await condition.until(() => true);
  const waited = condition.until(() => ready);
  condition.changed();
  ready = true;
  condition.changed();
  await expect(waited).resolves.toBeUndefined();
});

test("waiting ends with the signal's reason, or with what the test throws", async () => {
  const condition = createCondition();
  const stop = new AbortController();
  const aborted = condition.until(() => false, stop.signal);
  stop.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  await expect(condition.until(() => false, stop.signal)).rejects.toThrow("enough");
  let gone = false;
  const thrown = condition.until(() => {
    if (gone) throw new Error("it is gone");
    return false;
  });
  gone = true;
  condition.changed();
  await expect(thrown).rejects.toThrow("it is gone");
});
