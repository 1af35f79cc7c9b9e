// node:http, taken so that nothing else comes with it: an ES import of it reads every export, and the WebSocket among
// them loads the whole of undici, which costs each process as much as a bare start of Node (test/unit/rules holds this).

export const { createServer, request } = process.getBuiltinModule("node:http");
