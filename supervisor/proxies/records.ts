// The proxies' records in the state file.

import type { ProxyRecord, ProxyRecords } from "../ports.ts";
import type { Store } from "../state/store.ts";

export function storedProxyRecords(store: Store): ProxyRecords {
  return {
    all: () => [...store.all<ProxyRecord>("proxy").values()],
    put: (record) => store.put("proxy", record.id, record),
    remove: (id) => store.remove("proxy", id),
    nextNumber: () => store.next("proxy"),
  };
}
