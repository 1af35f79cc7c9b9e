// A page whose code is loaded when it is first opened. Invariant: code that is gone (a very old tab) leads to one
// reload at most, then to a sentence with a button.

import type { ComponentType, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ownBuild } from "../build-header.ts";
import { t } from "../text/text.ts";
import { Failure } from "./failure.tsx";

interface LazyProps {
  readonly load: () => Promise<{ readonly default: ComponentType<{ readonly id: string | null }> }>;
  readonly id: string | null;
}

const RELOADED = "owl.reloaded";

export function Lazy({ load, id }: LazyProps): VNode {
  const [page, setPage] = useState<{ readonly Page: ComponentType<{ readonly id: string | null }> } | null>(null);
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    load().then(
      (module) => setPage({ Page: module.default }),
      () => {
        const build = ownBuild();
        if (navigator.onLine && sessionStorage.getItem(RELOADED) !== build) {
          sessionStorage.setItem(RELOADED, build);
          location.reload();
        } else setFailed(true);
      },
    );
  }, []);

  if (failed) {
    return (
      <section class="page">
        <Failure text={t("page.failed")} onRetry={() => location.reload()} />
      </section>
    );
  }
  if (!page) return <p class="loading">{t("loading")}</p>;
  return <page.Page id={id} />;
}
