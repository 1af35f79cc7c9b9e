import { describe, expect, test } from "vitest";
import { findWrapper } from "../../../../supervisor/core/wrapper-command.ts";

describe("commands that swallow SIGTERM", () => {
  test.each([
    [["npm", "start"], "npm", "start"],
    [["/usr/bin/npm", "run", "--silent", "serve"], "npm", "serve"],
    [["yarn", "dev"], "yarn", "dev"],
    [["npx", "next", "start"], "npx", "next"],
    [["node", "/usr/lib/node_modules/npm/bin/npm-cli.js", "start"], "npm", "start"],
    [["env", "-i", "A=1", "npm", "start"], "npm", "start"],
    [["sh", "-c", "node server.js"], "sh -c", "node server.js"],
    [["/bin/bash", "-lc", "cd app && node server.js"], "bash -c", "cd app && node server.js"],
    [["sh", "-c", "exec node server.js | tee log"], "sh -c", "exec node server.js | tee log"],
    [["sh", "-c", "exec node a.js; node b.js"], "sh -c", "exec node a.js; node b.js"],
  ])("%j is named", (command, name, script) => {
    expect(findWrapper(command)).toMatchObject({ name, script });
  });

  test.each([
    [["node", "server.js"]],
    [["sh", "-c", "exec node server.js"]],
    [["bash", "-c", "cd app && PORT=1 exec node server.js"]],
    [["sh", "start.sh"]],
    [["env", "A=1", "node", "server.js"]],
    [["python3", "npm.py"]],
    [["env"]],
  ])("%j is no wrapper", (command) => {
    expect(findWrapper(command)).toBeNull();
  });
});
