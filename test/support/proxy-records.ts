// ProxyRecords in memory, as an owld's state file would keep them.

import type { ProxyRecord, ProxyRecords } from "../../supervisor/ports.ts";

export function createProxyRecords(): ProxyRecords {
  const records = new Map<string, ProxyRecord>();
  let given = 0;
  return {
    all: () => [...records.values()],
    put: (record) => void records.set(record.id, record),
    remove: (id) => void records.delete(id),
    nextNumber: () => ++given,
  };
}
