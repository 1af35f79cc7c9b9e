// A DNS command as `proxy.tls.acme.dns.command` has it: `dns-hook.mjs PORT add|remove RECORD TEXT`, for pebble's name server.

const [, , port, action, record, value] = process.argv;
const [path, body] =
  action === "add" ? ["set-txt", { host: `${record}.`, value }] : ["clear-txt", { host: `${record}.` }];
const { ok } = await fetch(`http://127.0.0.1:${port}/${path}`, { method: "POST", body: JSON.stringify(body) });
if (!ok) throw new Error("the name server refuses it");
