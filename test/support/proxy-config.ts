// A ProxyConfig as owl.yaml's defaults give it, on a port the kernel chooses.

import type { ProxyConfig } from "../../config/config.ts";

export function proxyConfig(changes: Partial<ProxyConfig> = {}): ProxyConfig {
  return {
    listen: [{ host: "127.0.0.1", port: 0 }],
    processes: 1,
    connectTimeoutMs: 500,
    queueTimeoutMs: 5_000,
    drainTimeoutMs: 300_000,
    tls: null,
    limits: {
      headerBytes: 16_384,
      headerTimeoutMs: 10_000,
      idleTimeoutMs: 75_000,
      connections: 20_000,
      bodyBytes: 10_485_760,
      uploadBytes: 4_294_967_296,
      bodyBytesPerS: 500,
    },
    metrics: null,
    trust: [],
    accessLog: false,
    compress: false,
    ...changes,
  };
}
