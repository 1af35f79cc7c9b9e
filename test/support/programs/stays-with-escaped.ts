// Like escapes-by-setsid.ts, but it stays until it is told to go.

import "./escapes-by-setsid.ts";

setInterval(() => undefined, 60_000);
